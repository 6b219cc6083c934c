#!/usr/bin/python
"""Units of systemd that began before what they read was written, as a module of Ansible's."""

from __future__ import annotations

DOCUMENTATION = """
module: service_told
short_description: Tells which units were not told yet what their files say
description:
  - Compares when a unit began with when its files were written, and changes nothing.
  - A run that ended between the two is seen so, which a handler would not be told of again.
author: Rackwright
options:
  files: {description: Files that a unit reads when it begins, by its name., type: dict, required: true}
  reloads: {description: Whether a reload counts as a beginning., type: bool, default: false}
"""

EXAMPLES = """
- name: See what chrony was not told yet
  service_told:
    files: {chrony.service: [/etc/chrony/chrony.conf]}
"""

RETURN = """
untold: {description: Units that began before one of their files was written., type: list, returned: always}
running: {description: Those of them that run or have failed., type: list, returned: always}
states: {description: Each unit's state., type: dict, returned: always}
"""

import subprocess  # noqa: E402 - Ansible wants the documentation first
import time  # noqa: E402
from pathlib import Path  # noqa: E402

from ansible.module_utils.basic import AnsibleModule  # noqa: E402

STARTED, CHANGED = "ExecMainStartTimestampMonotonic", "StateChangeTimestampMonotonic"
RUNS = {"active", "activating", "reloading", "failed"}
SECONDS = 60


def main() -> None:
    """Look, and tell."""
    module = AnsibleModule(
        argument_spec={"files": {"type": "dict", "required": True}, "reloads": {"type": "bool", "default": False}},
        supports_check_mode=True,
    )
    since = CHANGED if module.params["reloads"] else STARTED
    untold, states = [], {}
    for unit, files in module.params["files"].items():
        try:
            shown = show(unit, since)
        except (OSError, subprocess.SubprocessError) as error:
            module.fail_json(msg=f"systemd does not say how {unit} is ({type(error).__name__}); see systemctl status.")
        if is_untold(int(shown.get(since) or 0), files):
            untold.append(unit)
        states[unit] = shown.get("ActiveState", "")
    running = [unit for unit in untold if states[unit] in RUNS]
    module.exit_json(changed=False, untold=untold, running=running, states=states)


def show(unit: str, since: str) -> dict[str, str]:
    """A unit's state, and when it began: microseconds of the clock that nobody sets, 0 where it never did."""
    command = ["systemctl", "show", unit, "--property=ActiveState", f"--property={since}"]
    said = subprocess.run(command, stdout=subprocess.PIPE, timeout=SECONDS, check=True).stdout.decode()
    return dict(line.split("=", 1) for line in said.splitlines() if "=" in line)


def is_untold(began_us: int, files: list[str]) -> bool:
    """Whether one of the files that are there was written after that."""
    began = time.time() - (time.clock_gettime(time.CLOCK_MONOTONIC) - began_us / 1e6)
    return bool(began_us) and any(Path(file).stat().st_mtime > began for file in files if Path(file).exists())


if __name__ == "__main__":
    main()
