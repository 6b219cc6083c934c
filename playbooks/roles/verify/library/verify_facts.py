#!/usr/bin/python
"""What a machine shows at the end, as a module of Ansible's."""

from __future__ import annotations

DOCUMENTATION = """
module: verify_facts
short_description: Asks a machine what a proof of it and its cluster needs, beside preflight's questions
description:
  - Reads files and runs commands that only read. Changes nothing, with and without C(--check).
author: Rackwright
options:
  kubectl: {description: kubectl and its options; empty for none., type: list, elements: str, required: true}
  containerd: {description: Files of containerd's configuration, by pattern., type: list, elements: str, required: true}
  certificates: {description: Certificates, by pattern., type: list, elements: str, required: true}
  volumes: {description: Whether to list volume groups., type: bool, required: true}
  gpus: {description: Whether to list GPUs., type: bool, required: true}
"""

EXAMPLES = """
- name: Ask the machine
  verify_facts: "{{ verify_questions }}"
  register: __verify_answer
"""

RETURN = """
shown:
  description: What the machine said, by concern.
  type: dict
  returned: always
"""

import glob  # noqa: E402 - Ansible wants the documentation first
import os  # noqa: E402 - Ansible wants the documentation first
import subprocess  # noqa: E402 - Ansible wants the documentation first
import time  # noqa: E402 - Ansible wants the documentation first
from pathlib import Path  # noqa: E402 - Ansible wants the documentation first
from typing import Any  # noqa: E402 - Ansible wants the documentation first

from ansible.module_utils.basic import AnsibleModule  # noqa: E402 - Ansible wants the documentation first

FOLDERS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
GPUS = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
GROUPS = ["vgs", "--reportformat=json", "--options=vg_name"]
TEXTS = {"type": "list", "elements": "str", "required": True}
FLAG = {"type": "bool", "required": True}


def main() -> None:
    """Ask, and answer."""
    module = AnsibleModule(
        argument_spec={"kubectl": TEXTS, "containerd": TEXTS, "certificates": TEXTS, "volumes": FLAG, "gpus": FLAG},
        supports_check_mode=True,
    )
    module.exit_json(changed=False, shown=_shown(module.params))


def _shown(asked: dict[str, Any]) -> dict[str, Any]:
    nodes = [*asked["kubectl"], "get", "nodes", "--output=json", "--request-timeout=20s"]
    files = [Path(file) for pattern in asked["containerd"] for file in sorted(glob.glob(pattern))]  # noqa: PTH207
    certificates = [file for pattern in asked["certificates"] for file in sorted(glob.glob(pattern))]  # noqa: PTH207
    return {
        "now": time.time(),
        "nodes": _said(nodes) if asked["kubectl"] else None,
        "containerd": "\n".join(each.read_text(encoding="utf-8", errors="replace") for each in files)
        if files
        else None,
        "certificates": [
            {"path": file, "ends": _said(["openssl", "x509", "-enddate", "-noout", "-in", file])}
            for file in certificates
        ],
        "volumes": _said(GROUPS) if asked["volumes"] else None,
        "gpus": _said(GPUS) if asked["gpus"] else None,
    }


def _said(command: list[str]) -> dict[str, Any]:
    """What a command says, in English."""
    environment = {**os.environ, "LC_ALL": "C", "PATH": FOLDERS}
    try:
        ended = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, env=environment, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return {"code": 127, "out": "", "error": f"{command[0]} gave no answer ({error.__class__.__name__})"}
    out, said = (text.decode("utf-8", "replace") for text in (ended.stdout, ended.stderr))
    return {"code": ended.returncode, "out": out, "error": said[:2000]}


if __name__ == "__main__":
    main()
