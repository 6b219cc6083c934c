"""The end of preflight: judges what the hosts answered, prints the table, and fails where one forbids going on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from rackwright.errors import Refusal
from rackwright.preflight import Verdict, verdict
from rackwright.site.catalog import Catalog
from rackwright.site.site import Site

ANSWER, FAILURE = "__preflight_facts_answer", "__preflight_facts_failure"
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
        return {"changed": False, "failed": not found.succeeded, "msg": found.summary()}

    def _judge(self, variables: dict[str, Any]) -> Verdict:
        site = Site.load(self._task.args["site"])
        phase = 1 if int(self._task.args["phase"]) == 1 else 2
        answers: dict[str, Any] = {}
        failures: dict[str, str] = {}
        for name, known in variables.items():
            answer, failure = known.get(ANSWER), known.get(FAILURE)
            if failure is None and answer and answer.get("answers"):
                answers[name] = answer["answers"]
            elif failure is not None or answer:
                failures[name] = str(failure or answer.get("msg") or "it gave no answer")
        first = next(iter(variables.values()), {})
        secrets = {name: str(first[name]) for name in SECRETS if name in first}
        return verdict(site, phase, Catalog.load(), answers, failures, secrets, self._task.args.get("excuse") or ())
