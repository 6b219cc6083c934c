"""Recording and alert rules, in Prometheus' own form."""

from collections.abc import Iterable
from typing import Any

from rackwright.observe.baseline import Baseline
from rackwright.observe.figures import FIGURES
from rackwright.observe.limits import ABSENT_FOR, Limits, limits
from rackwright.observe.promql import condition, limit_series
from rackwright.observe.sources import SOURCES, check
from rackwright.observe.triggers import TRIGGERS, Trigger, measured
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Phase
from rackwright.site.site import Site

Rule = dict[str, Any]
# Between two evaluations; what looks a day back is costly and changes slowly. Prometheus forgets a value after five
# minutes, so a slow group is well within that: a gap would start the clock of an alert again.
FAST_S, SLOW_S = 15, 120
LIMIT_LABELS = {"queue": "model_name", "hit_rate": "model_name", "throughput": "instance"}


def groups(site: Site, phase: Phase, catalog: Catalog, baseline: Baseline | None = None) -> list[dict[str, Any]]:
    """Every rule of a phase; Refusal where the catalog pins versions whose metrics are not known."""
    check(catalog)
    known = limits(site, phase, baseline)
    served = [each.model.name for each in site.groups_in(phase) if each.serving.replicas]
    has_gpus = any(host.gpus for host in site.hosts_in(phase, "inference"))
    return [
        _group("rackwright-figures", FAST_S, recorded(slow=False)),
        _group("rackwright-usual", SLOW_S, recorded(slow=True)),
        _group("rackwright-limits", FAST_S, limit_rules(known)),
        _group("rackwright-triggers", FAST_S, alerts(known)),
        _group("rackwright-absent", FAST_S, absences(served, has_gpus=has_gpus, has_router=phase == 2)),
    ]


def _group(name: str, interval_s: int, rules: Iterable[Rule]) -> dict[str, Any]:
    return {"name": name, "interval": f"{interval_s}s", "rules": list(rules)}


def recorded(*, slow: bool) -> list[Rule]:
    """One series a figure, in an order in which each finds those that it reads."""
    return [{"record": each.record, "expr": each.expression} for each in FIGURES.values() if each.slow is slow]


def limit_rules(known: Limits) -> list[Rule]:
    """Limits by subject, as constant series."""
    return [
        {"record": limit_series(name), "expr": f"vector({value:.12g})", "labels": {LIMIT_LABELS[name]: subject}}
        for name, by_subject in known.each.items()
        for subject, value in sorted(by_subject.items())
    ]


def alerts(known: Limits) -> list[Rule]:
    """One alert a trigger; those whose limit was never measured are left out."""
    judged = [(trigger, measured(trigger.condition, known)) for trigger in TRIGGERS]
    return [_alert(trigger, condition(left, trigger.level, known)) for trigger, left in judged if left]


def _alert(trigger: Trigger, expression: str) -> Rule:
    return {
        "alert": trigger.name,
        "expr": expression,
        "for": f"{trigger.for_s}s",
        "labels": {"severity": trigger.severity, "from": "rackwright"},
        "annotations": {
            "summary": trigger.summary,
            "description": f"{trigger.action} Figure now: {{{{ $value | humanize }}}}.",
        },
    }


def absences(served: Iterable[str], *, has_gpus: bool, has_router: bool) -> list[Rule]:
    """Metrics that should be there and are not: without them every other rule is silent."""
    rules = [
        _absence("EngineMetricsAbsent", f'{SOURCES["engine"].present}{{model_name="{name}"}}', f"the model {name}",
                 {"model_name": name})
        for name in served
    ]  # fmt: skip
    others = {
        "GpuMetricsAbsent": "gpus",
        "VectorMetricsAbsent": "vectors",
        "DatabaseMetricsAbsent": "databases",
        "DriveMetricsAbsent": "machines",
        "VolumeMetricsAbsent": "volumes",
        "GatewayMetricsAbsent": "doors",
        "RouterMetricsAbsent": "router",
    }
    lacking = {name for name, there in (("gpus", has_gpus), ("router", has_router)) if not there}
    rules += [_absence(alert, SOURCES[name].present, name, {}) for alert, name in others.items() if name not in lacking]
    return rules


def _absence(alert: str, series: str, what: str, labels: dict[str, str]) -> Rule:
    return {
        "alert": alert,
        "expr": f"absent({series})",
        "for": f"{ABSENT_FOR}s",
        "labels": {"severity": "critical", "from": "rackwright", **labels},
        "annotations": {
            "summary": f"There are no metrics of {what}",
            "description": "What is not seen raises no other alert. See the target's pod, its monitor, and "
            "`rackwright check`.",
        },
    }
