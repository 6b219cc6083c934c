#!/usr/bin/python
"""One transaction of apt's, as a module of Ansible's."""

from __future__ import annotations

DOCUMENTATION = """
module: apt_transaction
short_description: Installs, exchanges and removes packages in one transaction
description:
  - C(ansible.builtin.apt) cannot remove what a new version has no room for while it installs the new version.
  - What apt would do is simulated first; with C(--check), or where only a simulation is wanted, it stays at that.
author: Rackwright
options:
  words:
    description: What C(apt-get install) is told, such as C(name=1.2-*), or C(name-) for a package that goes.
    type: list
    elements: str
    required: true
  simulates: {description: Whether it stays at what would be done., type: bool, default: false}
  exchanges: {description: Whether packages on hold may move and versions may become older., type: bool, default: false}
  preferences:
    description: What C(--check) takes for preferences of apt besides; the file that holds them is not written then.
    type: str
    default: ""
  lock_timeout: {description: Seconds to wait for another program that installs., type: int, default: 300}
"""

EXAMPLES = """
- name: Install the driver
  apt_transaction:
    words: ["libcuda1=580.1-*", "nvidia-kernel-open-dkms=580.1-*"]
"""

RETURN = """
simulation:
  description: What apt said that it would do.
  type: str
  returned: always
"""

import re  # noqa: E402 - Ansible wants the documentation first
import tempfile  # noqa: E402

from ansible.module_utils.basic import AnsibleModule  # noqa: E402

ACTION = re.compile(r"^(?:Inst|Remv|Purg|Conf) ", re.MULTILINE)
KEEP_SETTINGS = ("-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold")


def main() -> None:
    """Simulate, then do."""
    module = AnsibleModule(
        argument_spec={
            "words": {"type": "list", "elements": "str", "required": True},
            "simulates": {"type": "bool", "default": False},
            "exchanges": {"type": "bool", "default": False},
            "preferences": {"type": "str", "default": ""},
            "lock_timeout": {"type": "int", "default": 300},
        },
        supports_check_mode=True,
    )
    module.run_command_environ_update = {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C", "NEEDRESTART_MODE": "l"}
    asked = module.params
    exchanges = ["--allow-change-held-packages", "--allow-downgrades"] if asked["exchanges"] else []
    timeout = ["-o", f"DPkg::Lock::Timeout={asked['lock_timeout']}"]
    command = ["apt-get", "-y", "-q", "--no-install-recommends", *timeout, *exchanges, *KEEP_SETTINGS]
    simulation = _simulated(module, command, asked["preferences"] if module.check_mode else "")
    acts = ACTION.search(simulation) is not None
    if acts and not asked["simulates"] and not module.check_mode:
        _said(module, [*command, "install", *asked["words"]])
    module.exit_json(changed=acts and not asked["simulates"], simulation=simulation)


def _simulated(module: AnsibleModule, command: list[str], preferences: str) -> str:
    """What apt would do, with preferences that are not written yet."""
    if not preferences:
        return _said(module, [*command, "--simulate", "install", *module.params["words"]])
    with tempfile.NamedTemporaryFile("w", prefix="preferences-") as file:
        file.write(preferences)
        file.flush()
        own = ["-o", f"Dir::Etc::preferences={file.name}"]
        return _said(module, [*command, *own, "--simulate", "install", *module.params["words"]])


def _said(module: AnsibleModule, command: list[str]) -> str:
    code, out, error = module.run_command(command)
    if code:
        words = (error.strip() or out.strip()).splitlines()
        module.fail_json(msg=f"apt-get ends with {code}: {' '.join(words[-12:])}", stdout=out, stderr=error)
    return str(out)


if __name__ == "__main__":
    main()
