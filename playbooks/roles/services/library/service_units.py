#!/usr/bin/python
"""Units of systemd that run and begin at boot, asked about all at once, as a module of Ansible's."""

from __future__ import annotations

DOCUMENTATION = """
module: service_units
short_description: Has units run, and begin at boot
description:
  - Asks systemd about all of them at once, and tells it only what is not so yet.
  - Has it read its files again where it knows one of the units otherwise than they say, and not else.
  - With neither of the two wishes that is all, and a unit that is not there is no fault.
author: Rackwright
options:
  names:
    description: The units, with their kind at the end; a pattern stands for those that systemd has loaded.
    type: list
    elements: str
    required: true
  at_boot: {description: Whether they are to begin at boot., type: bool, default: false}
  running: {description: Whether they are to run., type: bool, default: false}
"""

EXAMPLES = """
- name: Run chrony
  service_units:
    names: [chrony.service]
    at_boot: true
    running: true
"""

RETURN = """
enabled: {description: Units that did not begin at boot., type: list, returned: success}
started: {description: Units that did not run., type: list, returned: success}
"""

import subprocess  # noqa: E402 - Ansible wants the documentation first

from ansible.module_utils.basic import AnsibleModule  # noqa: E402

SHOWN = ("Id", "Names", "LoadState", "ActiveState", "UnitFileState", "NeedDaemonReload")
NOT_AT_BOOT = {"", "disabled", "linked", "linked-runtime", "bad"}  # the others begin, or are what others begin
RUNS = {"active", "reloading", "activating"}
ASKED_S, STARTED_S = 120, 1800
Unit = dict[str, str]


class Failed(Exception):  # noqa: N818 - it is an answer
    """What could not be done, in a sentence."""


def main() -> None:
    """Look, and tell systemd what is not so yet."""
    module = AnsibleModule(
        argument_spec={
            "names": {"type": "list", "elements": "str", "required": True},
            "at_boot": {"type": "bool", "default": False},
            "running": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    names, acts = module.params["names"], not module.check_mode
    wished = module.params["at_boot"] or module.params["running"]
    try:
        units = shown(names)
        if acts and any(is_known_otherwise(unit, wished) for unit in units.values()):
            run(["daemon-reload"], ASKED_S)
            units = shown(names)
        enabled = [name for name in units if module.params["at_boot"] and units[name]["UnitFileState"] in NOT_AT_BOOT]
        started = [name for name in units if module.params["running"] and units[name]["ActiveState"] not in RUNS]
        if acts:
            for verb, those in (("enable", enabled), ("start", started)):
                demand(units, those)
                if those:
                    run([verb, *those], STARTED_S)
    except Failed as failed:
        module.fail_json(msg=str(failed))
    module.exit_json(changed=bool(enabled or started), enabled=enabled, started=started)


def shown(names: list[str]) -> dict[str, Unit]:
    """What systemd knows of each unit, by the name it was asked for; of a pattern by the unit's own."""
    said = run(["show", *names, f"--property={','.join(SHOWN)}"], ASKED_S)
    blocks = [dict(line.split("=", 1) for line in block.splitlines() if "=" in line) for block in said.split("\n\n")]
    units = [dict.fromkeys(SHOWN, "") | block for block in blocks if block]
    by_name = {name: unit for unit in units for name in (unit["Id"], *unit["Names"].split())}
    asked = [name for name in names if "*" not in name]
    if lost := [name for name in asked if name not in by_name]:
        raise Failed(f"systemd says nothing of {', '.join(lost)}; see `systemctl show` on this host.")
    wanted = {name: by_name[name] for name in asked}
    known = {unit["Id"] for unit in wanted.values()}
    return wanted | {unit["Id"]: unit for unit in units if unit["Id"] not in known}


def is_known_otherwise(unit: Unit, wished: bool) -> bool:
    """Whether a file of the unit's is newer than what systemd read, or one that is wished for may be unread."""
    return unit["NeedDaemonReload"] == "yes" or (wished and unit["LoadState"] == "not-found")


def demand(units: dict[str, Unit], names: list[str]) -> None:
    """Failed where one of those cannot be told anything."""
    for name in names:
        if (state := units[name]["LoadState"]) != "loaded":
            raise Failed(f"{name} cannot begin: systemd says {state}. See `systemctl status {name}` on this host.")


def run(words: list[str], patience_s: int) -> str:
    """What systemctl says; Failed with its last words where it does not do it."""
    try:
        done = subprocess.run(
            ["systemctl", *words],  # noqa: S607 - where it lies differs between systems
            capture_output=True,
            text=True,
            timeout=patience_s,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed(f"`systemctl {words[0]}` does not end ({type(error).__name__}).") from None
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).split())[-600:]
        raise Failed(f"`systemctl {' '.join(words)}` ended with {done.returncode}: {said}")
    return done.stdout


if __name__ == "__main__":
    main()
