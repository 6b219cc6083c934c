#!/usr/bin/python
"""The questions of preflight as a module of Ansible's."""

from __future__ import annotations

DOCUMENTATION = """
module: preflight_facts
short_description: Asks a machine everything that preflight judges by
description:
  - Reads the kernel's files, runs commands that only read, and measures. Changes nothing, with and without C(--check).
  - The answer comes as it is; it is understood and judged where Ansible runs.
author: Rackwright
options:
  time_servers: {description: NTP servers to ask for the time., type: list, elements: str, required: true}
  names: {description: Names to resolve., type: list, elements: str, required: true}
  disks: {description: Stable names of drives to look at., type: list, elements: str, required: true}
  peers:
    description: Hosts to ping, each with name, network, address and mtu.
    type: list
    elements: dict
    required: true
  doors:
    description: TCP ports to knock at, each with name, address and port.
    type: list
    elements: dict
    required: true
  packages:
    description: Packages to look for; C({kernel}) stands for the running kernel.
    type: list
    elements: str
    required: true
  urls: {description: Web addresses to look at., type: list, elements: str, required: true}
  flush_folder: {description: Where the time of a kept write is measured; empty for nowhere., type: str, required: true}
  token_salt: {description: Salt of the digest that is told instead of a token., type: str, required: true}
"""

EXAMPLES = """
- name: Ask the machine
  preflight_facts: "{{ preflight_facts_questions }}"
  register: __preflight_facts_answer
"""

RETURN = """
answers:
  description: What the machine said, by concern.
  type: dict
  returned: always
"""

from ansible.module_utils.basic import AnsibleModule  # noqa: E402 - Ansible wants the documentation first
from ansible.module_utils.preflight_machine import (  # noqa: E402, F401 - of `ask`; Mitogen sends what is named here
    network,
    packages,
    pci,
    probes,
    reading,
    services,
    storage,
    system,
)
from ansible.module_utils.preflight_machine.ask import ask  # noqa: E402 - Ansible wants the documentation first

TEXTS = {"type": "list", "elements": "str", "required": True}
ROWS = {"type": "list", "elements": "dict", "required": True}
TEXT = {"type": "str", "required": True}


def main() -> None:
    """Ask, and answer."""
    module = AnsibleModule(
        argument_spec={
            "time_servers": TEXTS,
            "names": TEXTS,
            "disks": TEXTS,
            "peers": ROWS,
            "doors": ROWS,
            "packages": TEXTS,
            "urls": TEXTS,
            "flush_folder": TEXT,
            "token_salt": {**TEXT, "no_log": False},
        },
        supports_check_mode=True,
    )
    module.exit_json(changed=False, answers=ask(module.params))


if __name__ == "__main__":
    main()
