"""The end of preflight: judges what the hosts answered, prints the table, and fails where one forbids going on."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from rackwright.errors import Refusal
from rackwright.preflight import Verdict, verdict
from rackwright.preflight.asked import Asked, asked, keep
from rackwright.preflight.upstream import mirrored
from rackwright.site.catalog import Catalog

ANSWER, FAILURE = "__preflight_facts_answer", "__preflight_facts_failure"


def judged(given: Asked) -> Verdict:
    """The verdict on what each host answered, or on why it did not."""
    answers: dict[str, Any] = {}
    failures: dict[str, str] = {}
    for name, known in given.hosts.items():
        answer, failure = known.get(ANSWER), known.get(FAILURE)
        if failure is None and answer and answer.get("answers"):
            answers[name] = answer["answers"]
        elif failure is not None or answer:
            failures[name] = str(failure or answer.get("msg") or "it gave no answer")
    catalog = mirrored(Catalog.load(), given.k3s)
    return verdict(given.site, given.phase, catalog, answers, failures, given.secrets, given.excuse)


class ActionModule(ActionBase):
    """Runs where Ansible runs, once for all hosts."""

    _requires_connection = False
    _supports_check_mode = True
    _VALID_ARGS = frozenset({"site", "phase", "report", "excuse"})

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """The task's result; AnsibleActionFail where there is nothing to judge."""
        super().run(tmp, task_vars)
        try:
            found = judged(asked(self._task.args, task_vars or {}))
        except Refusal as refusal:
            raise AnsibleActionFail(f"{refusal.what} {refusal.cure}") from None
        keep(found.text(), found.as_json(), self._task.args.get("report"))
        Display().display(f"\n{found.text()}\n")
        return {"changed": False, "failed": not found.succeeded, "msg": found.summary()}
