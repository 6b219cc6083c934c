"""A playbook of this folder ends before its first play where no site was read: on nobody it would end well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible import constants
from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: site_was_read
type: notification
short_description: Refuses a playbook that knows no site
description:
  - Ansible reads the ansible.cfg of the folder that it is started in, and without it takes no site file for an
    inventory; every play would then match no host, and the run would end well with nothing done.
  - Ansible finds this plugin beside the playbooks, whatever its settings are, so that no playbook needs to ask for it.
"""

PLAYBOOKS = Path(__file__).resolve().parents[1]


class CallbackModule(CallbackBase):
    """Before anything else is said, and before anybody is asked for a confirmation."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "site_was_read"

    def v2_playbook_on_start(self, playbook: Any) -> None:
        """A run has begun; SystemExit with 1, since Ansible makes a warning of any error of a callback."""
        file = Path(playbook._file_name).resolve()
        if file.parent != PLAYBOOKS or _names_groups(playbook):
            return
        settings = constants.CONFIG_FILE or "no ansible.cfg"
        self._display.error(
            f"No site was read, and nothing was touched: Ansible was started in {Path.cwd()} and read {settings}. "
            f"Start it at the root of the checkout: cd {PLAYBOOKS.parent} && "
            f"ansible-playbook -i inventory/<site> playbooks/{file.name}",
            wrap_text=False,
        )
        raise SystemExit(1)


def _names_groups(playbook: Any) -> bool:
    """True where the inventory has a site's groups, which every site has."""
    inventory = playbook.get_plays()[0].get_variable_manager()._inventory
    return "phase1" in inventory.groups
