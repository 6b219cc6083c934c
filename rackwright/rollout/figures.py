"""The gates that watch traffic: phase 2's figures against the limits that its alerts have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rackwright.observe.baseline import Baseline
from rackwright.observe.figures import FIGURES, WINDOW
from rackwright.observe.limits import Limits, limits
from rackwright.observe.prometheus import Prometheus
from rackwright.rollout.gates import Gate, Reading
from rackwright.rollout.way import Way

# What phase 1's proxies were told by the other door (components/gateway/shifting.py), or could not reach it at all.
TO_DOOR = 'envoy_cluster_name="beyond"'
ANSWERS = f"sum(increase(envoy_cluster_upstream_rq_completed{{{TO_DOOR}}}[{WINDOW}]))"
FAULTS = f'sum(increase(envoy_cluster_upstream_rq_xx{{{TO_DOOR},envoy_response_code_class="5"}}[{WINDOW}]))'
SECONDS, STEP_S = 60, 15


@dataclass(frozen=True)
class OfModels:
    """One figure of every model whose sessions move, against its limit; the worst is told."""

    prometheus: Prometheus
    figure: str
    limit: str
    limits: Limits
    models: Sequence[str]
    unit: str
    factor: float

    def __call__(self) -> Reading:
        """Read it now."""
        read = self.prometheus.read([FIGURES[f"model:{self.figure}"]], seconds=SECONDS, step_s=STEP_S)
        found = {model: read.last(f"model:{self.figure}", model, SECONDS) for model in self.models}
        most = {model: self.limits.of(self.limit, model) for model in self.models}
        wanted = ", ".join(f"{model} at most {self._said(most[model])}" for model in self.models)
        seen = ", ".join(f"{model} {self._said(value)}" for model, value in found.items())
        over = [
            model
            for model, value in found.items()
            if value is not None and (bound := most[model]) is not None and value > bound
        ]
        if over:
            return Reading(False, seen, wanted)
        if unseen := [model for model, value in found.items() if value is None]:
            return Reading(False, f"{seen}: nobody asked for {', '.join(unseen)}", wanted, is_unseen=True)
        return Reading(True, seen, wanted)

    def _said(self, value: float | None) -> str:
        return "nothing yet" if value is None else f"{value * self.factor:.4g}{self.unit}"


@dataclass(frozen=True)
class Errors:
    """Answers of phase 2's door that are a server's fault, as phase 1's proxies got them."""

    prometheus: Prometheus

    def __call__(self) -> Reading:
        """Read them now."""
        answers, faults = self._number(ANSWERS), self._number(FAULTS)
        wanted = "no answer that is a server's fault"
        if not answers and not faults:
            return Reading(False, f"no answers in {WINDOW}", wanted, is_unseen=True)
        return Reading(not faults, f"{faults:.0f} faults in {max(answers, faults):.0f} answers of {WINDOW}", wanted)

    def _number(self, expression: str) -> float:
        return sum(float(each["value"][1]) for each in self.prometheus.query(expression))


def holding(way: Way, first: Prometheus, second: Prometheus, baseline: Baseline | None = None) -> Mapping[str, Gate]:
    """The gates by their names; `first` and `second` are the two phases' own."""
    bounds, models = limits(way.site, 2, baseline), way.moving
    return {
        "first-token": OfModels(second, "ttft_p95", "ttft_p95", bounds, models, " ms", 1e3),
        "further-tokens": OfModels(second, "tpot_p95", "tpot_p95", bounds, models, " ms", 1e3),
        "queue": OfModels(second, "queue", "queue", bounds, models, "", 1),
        "errors": Errors(first),
    }
