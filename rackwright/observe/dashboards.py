"""Dashboards for Grafana, made from the same figures as the rules."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rackwright.observe.figure import Figure, Level, Unit
from rackwright.observe.figures import FIGURES
from rackwright.observe.promql import limit_series

UNITS: dict[Unit, str] = {
    "ratio": "percentunit",
    "s": "s",
    "1": "short",
    "1/s": "reqps",
    "B": "bytes",
    "B/s": "Bps",
    "tokens/s": "short",
    "tokens": "short",
}
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDTH, HEIGHT, COLUMNS = 12, 8, 24
# By level: Grafana's variable that narrows it, and how a line is called.
NARROWED: dict[Level, tuple[str, str]] = {"model": ("model_name", "model"), "host": ("instance", "host")}
LEGENDS: dict[Level, str] = {
    "gpu": "{{Hostname}} {{gpu}} {{pod}}",
    "model": "{{model_name}}",
    "disk": "{{instance}} {{device}}",
    "host": "{{instance}}",
    "volume": "{{namespace}}/{{persistentvolumeclaim}}",
    "store": "{{pod}}",
    "database": "{{pod}}",
    "door": "{{pod}}",
}


@dataclass(frozen=True)
class Panel:
    """Figures of one unit in one plot; `limit` is drawn as a line beside them."""

    title: str
    figures: tuple[str, ...]
    limit: str | None = None


@dataclass(frozen=True)
class Board:
    """One dashboard."""

    name: str
    title: str
    panels: tuple[Panel, ...]


BOARDS = (
    Board("serving", "Serving", (
        Panel("Calls that wait", ("model:queue",), limit="queue"),
        Panel("Calls at work", ("model:running",)),
        Panel("Time to the first token", ("model:ttft_p50", "model:ttft_p95", "model:ttft_p99", "model:ttft_usual")),
        Panel("Time of a further token", ("model:tpot_p50", "model:tpot_p95", "model:tpot_p99")),
        Panel("Time between two tokens", ("model:itl_p50", "model:itl_p95", "model:itl_p99")),
        Panel("Whole call", ("model:e2e_p50", "model:e2e_p95", "model:e2e_p99")),
        Panel("Waiting in the queue", ("model:queue_time_p50", "model:queue_time_p95", "model:queue_time_p99")),
        Panel("Waiting in the router, P95", ("model:held_p95",)),
        Panel("KV-cache hit rate", ("model:hit_rate", "model:hit_rate_usual", "model:external_hit_rate")),
        Panel("KV cache in use", ("model:kv_usage",)),
        Panel("Calls put back", ("model:preemptions",)),
        Panel("Calls answered", ("model:calls",)),
        Panel("Tokens a second", ("model:prompt_tokens", "model:output_tokens")),
        Panel("Tokens of a call", ("model:prompt_mean", "model:output_mean")),
        Panel("Caches read from other replicas", ("model:caches_moved",)),
        Panel("Caches that could not be read", ("model:caches_lost",)),
        Panel("Replicas that answer", ("model:replicas",)),
        Panel("Calls let in uncounted", ("door:uncounted",)),
    )),
    Board("gpus", "GPUs", (
        Panel("Utilisation by model", ("model:gpu_utilisation",)),
        Panel("SM and tensor activity by model", ("model:gpu_sm", "model:gpu_tensor")),
        Panel("Utilisation", ("gpu:utilisation",)),
        Panel("SM activity", ("gpu:sm",)),
        Panel("Tensor activity", ("gpu:tensor",)),
        Panel("Memory bandwidth used", ("gpu:memory",)),
    )),
    Board("storage", "Storage and databases", (
        Panel("Read and written by host", ("host:throughput",), limit="throughput"),
        Panel("Time with I/O under way", ("disk:busy",)),
        Panel("Read", ("disk:read",)),
        Panel("Written", ("disk:written",)),
        Panel("Time of a read", ("disk:read_time",)),
        Panel("Time of a write", ("disk:write_time",)),
        Panel("Volumes in use", ("volume:used",)),
        Panel("Room in volumes in three days", ("volume:left_soon",)),
        Panel("Vector search, P95", ("store:search_p95",)),
        Panel("Memory of the vector store", ("store:memory", "store:memory_soon")),
        Panel("Vectors", ("store:vectors",)),
        Panel("Connections to PostgreSQL in use", ("database:connections",)),
        Panel("PostgreSQL's blocks found in buffers", ("database:buffers",)),
        Panel("Transactions", ("database:commits",)),
    )),
)  # fmt: skip


def dashboards() -> dict[str, dict[str, Any]]:
    """Every dashboard by the name of its file."""
    return {f"rackwright-{board.name}.json": dashboard(board) for board in BOARDS}


def dashboard(board: Board) -> dict[str, Any]:
    """One dashboard in Grafana's own form."""
    return {
        "uid": f"rackwright-{board.name}",
        "title": f"Rackwright: {board.title}",
        "tags": ["rackwright"],
        "schemaVersion": 39,
        "editable": False,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": _variables(board)},
        "links": [{"type": "dashboards", "tags": ["rackwright"], "title": "Rackwright", "asDropdown": True}],
        "panels": [_panel(number, panel) for number, panel in enumerate(board.panels)],
    }


def _variables(board: Board) -> list[dict[str, Any]]:
    levels = {FIGURES[name].level for panel in board.panels for name in panel.figures}
    source = {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Prometheus"}
    return [source, *(_variable(level) for level in NARROWED if level in levels)]


def _variable(level: Level) -> dict[str, Any]:
    label, name = NARROWED[level]
    first = next(figure for figure in FIGURES.values() if figure.level == level and not figure.slow)
    return {
        "name": name,
        "type": "query",
        "datasource": SOURCE,
        "query": f"label_values({first.record}, {label})",
        "refresh": 2,
        "multi": True,
        "includeAll": True,
        "current": {"text": "All", "value": "$__all"},
    }


def _panel(number: int, panel: Panel) -> dict[str, Any]:
    figures = [FIGURES[name] for name in panel.figures]
    per_row = COLUMNS // WIDTH
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": panel.title,
        "description": "\n\n".join(f"{each.title}: `{each.record}`" for each in figures),
        "datasource": SOURCE,
        "gridPos": {"h": HEIGHT, "w": WIDTH, "x": number % per_row * WIDTH, "y": number // per_row * HEIGHT},
        "targets": _targets(figures, panel.limit),
        "fieldConfig": {"defaults": _form(figures), "overrides": []},
        "options": {
            "legend": {"displayMode": "table", "placement": "right", "calcs": ["lastNotNull", "max"]},
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
    }


def _form(figures: Sequence[Figure]) -> Mapping[str, Any]:
    share = {"max": 1} if all(figure.unit == "ratio" for figure in figures) else {}
    # A gap is shown as a gap: a line drawn across it would hide that nothing was seen.
    drawn = {"fillOpacity": 8, "lineWidth": 1, "spanNulls": False, "showPoints": "never"}
    return {"unit": UNITS[figures[0].unit], "min": 0, **share, "custom": drawn}


def _targets(figures: Iterable[Figure], limit: str | None) -> list[dict[str, Any]]:
    named = [(each.record, each.level, each.name) for each in figures]
    if limit is not None:
        named.append((limit_series(limit), named[0][1], "limit"))
    several = len(named) > 1
    return [
        {
            "refId": chr(ord("A") + index),
            "datasource": SOURCE,
            "expr": f"{record}{_narrowed(level)}",
            "legendFormat": f"{LEGENDS[level]} {name}" if several else LEGENDS[level],
        }
        for index, (record, level, name) in enumerate(named)
    ]


def _narrowed(level: Level) -> str:
    if level not in NARROWED:
        return ""
    label, variable = NARROWED[level]
    return f'{{{label}=~"${variable}"}}'
