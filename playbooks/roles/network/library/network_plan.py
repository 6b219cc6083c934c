#!/usr/bin/python
"""Puts a network that is wished beside the one that is there, for network-change to try."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = """
module: network_plan
short_description: Puts a wished network beside the one that is there
author: Rackwright
description:
  - Compares files with those on the host, and what runs with what is wished. Where something differs, writes what
    network-change needs to try the wished network. Nothing that configures the running network is touched.
options:
  change:
    description: What the filter network_change decided.
    type: dict
    required: true
  path:
    description: Where the plan is put.
    type: path
    required: true
"""

EXAMPLES = """
- name: Put the wished network beside the old one
  network_plan:
    change: "{{ __network_change }}"
    path: /etc/rackwright/network/plan.json
"""


def main() -> None:
    """Compare, and write the plan where something differs."""
    argument_spec = {"change": {"type": "dict", "required": True}, "path": {"type": "path", "required": True}}
    module = AnsibleModule(argument_spec=argument_spec, supports_check_mode=True)
    change, path = module.params["change"], module.params["path"]
    differing = {name: text for name, text in sorted(change["files"].items()) if _text(name) != text}
    changed = bool(differing or change["differences"])
    if changed and not module.check_mode:
        _write(Path(path), json.dumps({**change, "files": differing}))
    module.exit_json(
        changed=changed,
        files=sorted(differing),
        differences=change["differences"],
        diff=[_diff(name, text) for name, text in differing.items()],
    )


def _diff(name: str, text: str | None) -> dict[str, Any]:
    return {
        "before_header": name,
        "after_header": name,
        "before": _text(name) or "",
        "after": text or "",
    }


def _text(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None


def _write(path: Path, text: str) -> None:
    """Whole or not at all, also where the power goes."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


if __name__ == "__main__":
    main()
