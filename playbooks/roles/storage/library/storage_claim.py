#!/usr/bin/python
"""The acts that claim drives as a module of Ansible's."""

from __future__ import annotations

DOCUMENTATION = """
module: storage_claim
short_description: Claims drives, step by step
description:
  - Does the steps of a plan of C(rackwright.metal.storage) in their order, and ends at the first that cannot be done.
  - Before a step that destroys anything, the drive's serial number, signatures and users are looked at once more.
  - With C(--check), nothing is done, and the steps are shown as what would change.
author: Rackwright
options:
  steps: {description: The steps., type: list, elements: dict, required: true}
"""

EXAMPLES = """
- name: Claim the drives
  storage_claim:
    steps: "{{ __storage_plan.steps }}"
"""

RETURN = """
done:
  description: The steps that were done, in words.
  type: list
  returned: always
"""

from ansible.module_utils.basic import AnsibleModule  # noqa: E402 - Ansible wants the documentation first
from ansible.module_utils.storage_machine import facts  # noqa: E402, F401 - of `acts`; Mitogen sends what is named here
from ansible.module_utils.storage_machine.acts import act  # noqa: E402 - Ansible wants the documentation first
from ansible.module_utils.storage_machine.commands import Failed  # noqa: E402 - Ansible wants the documentation first

STEPS = {"type": "list", "elements": "dict", "required": True}


def main() -> None:
    """Do every step, or say what would be done."""
    module = AnsibleModule(argument_spec={"steps": STEPS}, supports_check_mode=True)
    steps = module.params["steps"]
    done: list[str] = []
    try:
        for step in steps:
            if not module.check_mode:
                act(step)
            done.append(step["words"])
    except Failed as failed:
        module.fail_json(msg=str(failed), changed=bool(done), done=done)
    diff = {"before": "", "after": "".join(f"{words}\n" for words in done)}
    module.exit_json(changed=bool(done), done=done, diff=diff)


if __name__ == "__main__":
    main()
