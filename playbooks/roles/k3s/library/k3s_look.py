#!/usr/bin/python
"""What of k3s is on a machine already, read in one go."""

from __future__ import annotations

DOCUMENTATION = """
module: k3s_look
short_description: Tells what of k3s is on a machine, and changes nothing
description:
  - The version, whether a cluster's state is there and encrypted with this token, whether the kernel is set as
    wished, and which files k3s was not started with.
author: Rackwright
options:
  program: {description: The program., type: path, required: true}
  unit: {description: Its unit of systemd's, without .service., type: str, required: true}
  state: {description: A path that is there where a cluster has begun., type: path, required: true}
  token_file: {description: Where a server keeps the token of its state., type: path, required: true}
  token: {description: The token that is wished., type: str, required: true}
  files: {description: What k3s reads when it starts., type: list, elements: path, required: true}
  sysctls: {description: Settings of the kernel., type: dict, required: true}
  needs: {description: Paths that k3s wants to find., type: list, elements: path, required: true}
"""

EXAMPLES = """
- name: See what is here
  k3s_look: "{{ what_is_wished }}"
  register: __k3s_found
"""

RETURN = """
installed: {description: The program's version; empty where it does not run., type: str, returned: always}
has_begun: {description: Whether a cluster's state is there., type: bool, returned: always}
token_is_another: {description: Whether that state has another token., type: bool, returned: always}
kernel_differs: {description: Whether a setting of the kernel is another., type: bool, returned: always}
has_unit: {description: Whether systemd knows the unit., type: bool, returned: always}
is_active: {description: Whether it runs, or is about to., type: bool, returned: always}
is_enabled: {description: Whether it begins at boot., type: bool, returned: always}
untold: {description: Files that are newer than the process., type: list, returned: always}
missing: {description: What of needs is not there., type: list, returned: always}
"""

import re  # noqa: E402 - Ansible wants the documentation first
import subprocess  # noqa: E402 - Ansible wants the documentation first
import time  # noqa: E402 - Ansible wants the documentation first
from pathlib import Path  # noqa: E402 - Ansible wants the documentation first
from typing import Any  # noqa: E402 - Ansible wants the documentation first

from ansible.module_utils.basic import AnsibleModule  # noqa: E402 - Ansible wants the documentation first

VERSION = re.compile(r"\bv1\.\S+")
STARTED = re.compile(r"^ExecMainStartTimestampMonotonic=(\d+)", re.MULTILINE)  # microseconds; 0 is never
ACTIVE = re.compile(r"^ActiveState=(?:active|activating|reloading)$", re.MULTILINE)
ENABLED = re.compile(r"^UnitFileState=enabled$", re.MULTILINE)
LOADED = re.compile(r"^LoadState=loaded$", re.MULTILINE)
SECONDS = 300
SHOWN = ("LoadState", "ActiveState", "UnitFileState", "ExecMainStartTimestampMonotonic")

TEXT = {"type": "str", "required": True}
PATH = {"type": "path", "required": True}
PATHS = {"type": "list", "elements": "path", "required": True}


def main() -> None:
    """Look, and tell."""
    module = AnsibleModule(
        argument_spec={
            "program": PATH,
            "unit": TEXT,
            "state": PATH,
            "token_file": PATH,
            "token": {**TEXT, "no_log": True},
            "files": PATHS,
            "sysctls": {"type": "dict", "required": True},
            "needs": PATHS,
        },
        supports_check_mode=True,
    )
    try:
        found = _look(module.params)
    except subprocess.TimeoutExpired as error:
        module.fail_json(msg=f"{error.cmd[0]} gave no answer in {SECONDS} s; see what the machine is busy with.")
    module.exit_json(changed=False, **found)


def _look(wished: dict[str, Any]) -> dict[str, Any]:
    unit = f"{wished['unit']}.service"
    shown = _said(["systemctl", "show", unit, *(f"--property={name}" for name in SHOWN)])
    version = VERSION.search(_said([wished["program"], "--version"]))
    return {
        "installed": version[0] if version else "",
        "has_begun": Path(wished["state"]).exists(),
        "token_is_another": _token_is_another(Path(wished["token_file"]), wished["token"]),
        "kernel_differs": any(_setting(name) != str(value) for name, value in wished["sysctls"].items()),
        "has_unit": bool(LOADED.search(shown)),
        "is_active": bool(ACTIVE.search(shown)),
        "is_enabled": bool(ENABLED.search(shown)),
        "untold": _untold(wished["files"], shown),
        "missing": [path for path in wished["needs"] if not Path(path).exists()],
    }


def _said(command: list[str]) -> str:
    """What a command prints; nothing where it cannot be run: what a power cut left empty is no program.

    One that gives no answer in time ends the module: silence is not taken for a version.
    """
    try:
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=SECONDS, check=False)
    except OSError:
        return ""
    return ended.stdout.decode("utf-8", "replace")


def _token_is_another(file: Path, wished: str) -> bool:
    """True where a token is there, and what is secret in it is not the wished one's."""
    there = file.read_text(encoding="utf-8").strip() if file.exists() else ""
    return bool(there) and there.rpartition(":")[2] != wished.strip().rpartition(":")[2]


def _setting(name: str) -> str:
    """A setting of the kernel as it is now."""
    return Path("/proc/sys", name.replace(".", "/")).read_text(encoding="utf-8").strip()


def _untold(files: list[str], shown: str) -> list[str]:
    """Files that were written after the process began, by the clock that nobody sets."""
    found = STARTED.search(shown)
    if not found or found[1] == "0":
        return []
    began = time.time() - (time.clock_gettime(time.CLOCK_MONOTONIC) - int(found[1]) / 1e6)
    return [file for file in files if Path(file).exists() and Path(file).stat().st_mtime > began]


if __name__ == "__main__":
    main()
