"""The end of verify: judges what the hosts showed, prints the table, and fails where something is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from rackwright.errors import Refusal
from rackwright.site.catalog import Catalog
from rackwright.site.site import Site
from rackwright.verify import Proof, proof

BEFORE, BEFORE_FAILED = "__preflight_facts_answer", "__preflight_facts_failure"
SHOWN, FAILED = "__verify_answer", "__verify_failure"
SECRETS = ("k3s_token",)


class ActionModule(ActionBase):
    """Runs where Ansible runs, once for all hosts."""

    _requires_connection = False
    _supports_check_mode = True
    _VALID_ARGS = frozenset({"site", "phase", "report", "excuse"})

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """The task's result; AnsibleActionFail where there is nothing to judge."""
        super().run(tmp, task_vars)
        asked = (task_vars or {}).get("ansible_play_hosts_all", [])
        variables = {name: (task_vars or {})["hostvars"][name] for name in asked}
        try:
            found = self._judge(variables)
        except Refusal as refusal:
            raise AnsibleActionFail(f"{refusal.what} {refusal.cure}") from None
        report = self._task.args.get("report")
        if report:
            Path(report).write_text(json.dumps({"text": found.text(), "data": found.as_json()}), encoding="utf-8")
        Display().display(f"\n{found.text()}\n")
        # A dry run of everything ends here on a machine of which nothing was made: it is shown, and is no fault.
        fails = not found.succeeded and not self._task.check_mode
        return {"changed": False, "failed": fails, "msg": found.summary()}

    def _judge(self, variables: Mapping[str, Any]) -> Proof:
        site = Site.load(self._task.args["site"])
        phase = 1 if int(self._task.args["phase"]) == 1 else 2
        answers: dict[str, Any] = {}
        shown: dict[str, Any] = {}
        failures: dict[str, str] = {}
        for name, known in variables.items():
            before, after = known.get(BEFORE) or {}, known.get(SHOWN) or {}
            failure = known.get(BEFORE_FAILED) or known.get(FAILED)
            if failure is None and before.get("answers") and after.get("shown"):
                answers[name], shown[name] = before["answers"], after["shown"]
            elif failure or before or after:
                failures[name] = str(failure or before.get("msg") or after.get("msg") or "it gave no answer")
        first = next(iter(variables.values()), {})
        secrets = {name: str(first[name]) for name in SECRETS if name in first}
        excuse = self._task.args.get("excuse") or ()
        return proof(site, phase, Catalog.load(), answers, shown, failures, secrets, excuse)
