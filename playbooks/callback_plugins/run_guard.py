"""A playbook of this folder runs on somebody of a site, or says why not: on nobody Ansible ends well."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ansible import constants
from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: run_guard
type: notification
short_description: Refuses a playbook that would do nothing for anybody, or not for all hosts in step
description:
  - Before the first play, and before a confirmation is asked for, it refuses a run that knows no site. Ansible reads
    the ansible.cfg of the folder that it is started in; without it no site file is an inventory.
  - So it does where an inventory has hosts that the site has not.
  - So it does where a setting lets hosts run ahead of one another (strategy free, host_pinned), since what is judged
    of all hosts together would be judged of those that came first.
  - A run of which every play matched no host ends with 1, since a limit or a phase was not what was meant.
  - Ansible finds this plugin beside the playbooks, whatever its settings are, so that no playbook needs to ask for it.
"""

PLAYBOOKS = Path(__file__).resolve().parents[1]
OUT_OF_STEP = ("free", "host_pinned")  # by whichever collection or plugin they are brought


class CallbackModule(CallbackBase):
    """It ends a run by SystemExit with 1, since Ansible makes a warning of any error of a callback."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "run_guard"

    def __init__(self) -> None:
        super().__init__()
        self._playbook: Path | None = None  # one of this folder
        self._groups: dict[str, list[str]] = {}
        self._has_begun = False

    def v2_playbook_on_start(self, playbook: Any) -> None:
        """A run has begun; nobody was asked anything yet."""
        file = Path(playbook._file_name).resolve()
        self._playbook = file if file.parent == PLAYBOOKS else None
        self._has_begun = False
        if self._playbook is None:
            return
        inventory = playbook.get_plays()[0].get_variable_manager()._inventory
        self._groups = inventory.get_groups_dict()
        if "phase1" not in self._groups:  # every site has it
            self._refuse(_no_site(file.name))
        if constants.DEFAULT_STRATEGY.endswith(OUT_OF_STEP):
            self._refuse(
                f"Nothing was touched: by the strategy {constants.DEFAULT_STRATEGY} hosts do not wait for one another, "
                "and these playbooks want them in step. Take it out of ANSIBLE_STRATEGY, or out of your ansible.cfg"
            )
        strangers = [name for name, host in inventory.hosts.items() if "host" not in host.vars]
        if strangers:
            self._refuse(
                f"Nothing was touched: {', '.join(strangers)} came from another inventory than the site's. "
                "Write a host into the site file, and give one inventory: -i inventory/<site>"
            )

    def v2_playbook_on_task_start(self, task: Any, is_conditional: bool) -> None:  # noqa: ARG002 - Ansible's own
        """There is somebody for whom a task has begun."""
        self._has_begun = True

    def v2_playbook_on_stats(self, stats: Any) -> None:  # noqa: ARG002 - Ansible's own
        """The run has ended."""
        if self._playbook is not None and not self._has_begun:
            phases = "; ".join(f"phase {number} has {_listed(self._groups[f'phase{number}'])}" for number in (1, 2))
            self._refuse(
                f"Nothing was done: no play of playbooks/{self._playbook.name} has a host here. Look at --limit and "
                f"-e phase=: {phases}"
            )

    def _refuse(self, words: str) -> None:
        self._display.error(words, wrap_text=False)
        raise SystemExit(1)


def _no_site(playbook: str) -> str:
    settings = constants.CONFIG_FILE or "no ansible.cfg"
    return (
        f"No site was read, and nothing was touched: Ansible was started in {Path.cwd()} and read {settings}. "
        f"Start it at the root of the checkout: cd {PLAYBOOKS.parent} && "
        f"ansible-playbook -i inventory/<site> playbooks/{playbook}"
    )


def _listed(hosts: Iterable[str]) -> str:
    return ", ".join(hosts) or "none"
