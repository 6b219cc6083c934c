"""Whether clients of a door are worse off than they were: its own answers, by its cluster's Prometheus."""

from dataclasses import dataclass

from rackwright.observe.figures import WINDOW
from rackwright.observe.prometheus import Prometheus
from rackwright.rollout.gates import Reading

DOOR = 'envoy_http_conn_manager_prefix="https"'  # as components/gateway/envoy.py calls it
BEFORE = "1h"


def answers(window: str, more: str = "", offset: str = "") -> str:
    """Answers of the door to its clients in so long, of one class where `more` says which."""
    moved = f" offset {offset}" if offset else ""
    return f"sum(increase(envoy_http_downstream_rq_xx{{{DOOR}{more}}}[{window}]{moved}))"


FAULT = ',envoy_response_code_class="5"'


@dataclass(frozen=True)
class Untouched:
    """The gate `phase-1-untouched`: of the last answers no larger part is a server's fault than in the hour before."""

    prometheus: Prometheus

    def __call__(self) -> Reading:
        """Read both now."""
        now = self._part(WINDOW)
        before = self._part(BEFORE, offset=WINDOW)
        seen = f"{now:.2%} of answers fail, {before:.2%} did before"
        return Reading(now <= before, seen, "requests fail no more often than before")

    def _part(self, window: str, offset: str = "") -> float:
        all_of_them = self._number(answers(window, offset=offset))
        faults = self._number(answers(window, FAULT, offset))
        return faults / all_of_them if all_of_them else 0.0

    def _number(self, expression: str) -> float:
        return sum(float(each["value"][1]) for each in self.prometheus.query(expression))


@dataclass(frozen=True)
class NoFaults:
    """The gate `errors` at phase 2's own door: clients come to it, and no answer is a server's fault."""

    prometheus: Prometheus

    def __call__(self) -> Reading:
        """Read it now."""
        found = sum(float(each["value"][1]) for each in self.prometheus.query(answers(WINDOW, FAULT)))
        return Reading(not found, f"{found:.0f} faults in {WINDOW}", "no answer of phase 2's door is a server's fault")
