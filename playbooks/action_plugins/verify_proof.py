"""The end of verify: judges what the hosts showed, prints the table, and fails where something is wrong."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from rackwright.errors import Refusal
from rackwright.preflight.asked import Asked, asked, keep
from rackwright.site.catalog import Catalog
from rackwright.verify import Proof, proof

BEFORE, BEFORE_FAILED = "__preflight_facts_answer", "__preflight_facts_failure"
SHOWN, FAILED = "__verify_answer", "__verify_failure"


def judged(given: Asked) -> Proof:
    """The proof of what each host showed, or of why it did not."""
    answers: dict[str, Any] = {}
    shown: dict[str, Any] = {}
    failures: dict[str, str] = {}
    for name, known in given.hosts.items():
        before, after = known.get(BEFORE) or {}, known.get(SHOWN) or {}
        failure = known.get(BEFORE_FAILED) or known.get(FAILED)
        if failure is None and before.get("answers") and after.get("shown"):
            answers[name], shown[name] = before["answers"], after["shown"]
        elif failure or before or after:
            failures[name] = str(failure or before.get("msg") or after.get("msg") or "it gave no answer")
    return proof(given.site, given.phase, Catalog.load(), answers, shown, failures, given.secrets, given.excuse)


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
        # A dry run of everything ends here on a machine of which nothing was made: it is shown, and is no fault.
        fails = not found.succeeded and not self._task.check_mode
        return {"changed": False, "failed": fails, "msg": found.summary()}
