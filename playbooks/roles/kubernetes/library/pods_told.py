#!/usr/bin/python
"""Parts of a control plane that began before what they read was written, as a module of Ansible's."""

from __future__ import annotations

DOCUMENTATION = """
module: pods_told
short_description: Tells which static pods were not told yet what their files say
description:
  - Compares when a container was made with when its files were written, and changes nothing.
author: Rackwright
options:
  files: {description: Files that a container reads when it begins, by its name., type: dict, required: true}
"""

EXAMPLES = """
- name: See whether the scheduler was not told yet
  pods_told:
    files: {kube-scheduler: [/etc/kubernetes/scheduler.conf]}
"""

RETURN = """
untold: {description: Containers that run, and were made before one of their files was., type: list, returned: always}
"""

import json  # noqa: E402 - Ansible wants the documentation first
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

from ansible.module_utils.basic import AnsibleModule  # noqa: E402


def main() -> None:
    """Look, and tell."""
    module = AnsibleModule(argument_spec={"files": {"type": "dict", "required": True}}, supports_check_mode=True)
    _, said, _ = module.run_command(["crictl", "ps", "--output", "json"], check_rc=True)
    began = made(json.loads(said))
    untold = [name for name, files in module.params["files"].items() if name in began and is_older(began[name], files)]
    module.exit_json(changed=False, untold=untold)


def made(said: dict[str, Any]) -> dict[str, float]:
    """When the newest running container of each name was made, in seconds."""
    found: dict[str, float] = {}
    for each in said.get("containers") or []:
        name = each["metadata"]["name"]
        found[name] = max(found.get(name, 0), int(each["createdAt"]) / 1e9)
    return found


def is_older(began: float, files: list[str]) -> bool:
    """Whether one of the files that are there was written after that."""
    return any(Path(file).stat().st_mtime > began for file in files if Path(file).exists())


if __name__ == "__main__":
    main()
