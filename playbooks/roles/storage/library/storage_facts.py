#!/usr/bin/python
"""The drives of a machine as a module of Ansible's."""

from __future__ import annotations

DOCUMENTATION = """
module: storage_facts
short_description: Looks at a machine's drives
description:
  - Tells of each drive its size, serial number, signatures, and what the kernel shows on top of it. Changes nothing.
  - What follows from it is decided where Ansible runs, by C(rackwright.metal.storage).
author: Rackwright
options:
  paths: {description: Stable names of drives to look at., type: list, elements: str, required: true}
  folders: {description: Folders that may hold something already., type: list, elements: str, required: true}
"""

EXAMPLES = """
- name: Look at the drives
  storage_facts:
    paths: [/dev/disk/by-id/nvme-SAMSUNG_MZQL23T8HCLS_S64HNE0T100001]
    folders: [/var/lib/etcd]
  register: __storage_facts
"""

RETURN = """
found:
  description: Drives, LVM's devices, arrays, folders that hold something, and the schedulers in use.
  type: dict
  returned: always
"""

from ansible.module_utils.basic import AnsibleModule  # noqa: E402 - Ansible wants the documentation first
from ansible.module_utils.storage_machine.commands import Failed  # noqa: E402 - Ansible wants the documentation first
from ansible.module_utils.storage_machine.facts import facts  # noqa: E402 - Ansible wants the documentation first

TEXTS = {"type": "list", "elements": "str", "required": True}


def main() -> None:
    """Look, and tell."""
    module = AnsibleModule(argument_spec={"paths": TEXTS, "folders": TEXTS}, supports_check_mode=True)
    try:
        module.exit_json(changed=False, found=facts(module.params["paths"], module.params["folders"]))
    except Failed as failed:
        module.fail_json(msg=str(failed))


if __name__ == "__main__":
    main()
