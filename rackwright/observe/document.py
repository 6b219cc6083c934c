"""The parts of docs/observe.md that follow from figures and triggers; run as a module it writes them."""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from rackwright.observe.figures import FIGURES
from rackwright.observe.sources import SOURCES
from rackwright.observe.triggers import TRIGGERS, Both, Bound, Condition, Either, Over

FILE = Path(__file__).resolve().parents[2] / "docs" / "observe.md"
PART = re.compile(r"<!-- generated: (\w+) -->\n.*?<!-- end -->", re.DOTALL)


def refreshed(text: str) -> str:
    """The document with its generated parts as they are now."""
    return PART.sub(lambda found: f"<!-- generated: {found[1]} -->\n\n{PARTS[found[1]]()}\n\n<!-- end -->", text)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def _figures() -> str:
    rows = [
        (each.group, each.title, f"`{each.record}`", each.unit, f"`{each.expression}`") for each in FIGURES.values()
    ]
    return _table(("Metric", "Figure", "Recorded as", "Unit", "PromQL"), rows)


def _sources() -> str:
    rows = [
        (each.name, version, read, f"`{each.present}`")
        for each in SOURCES.values()
        for version, read in each.known.items()
    ]
    return _table(("Exporter", "Pinned", "Names read of", "Absent: an alert"), rows)


def _triggers() -> str:
    rows = [
        (f"`{each.name}`", _words(each.condition), f"{each.for_s} s", each.severity, each.action) for each in TRIGGERS
    ]
    return _table(("Alert", "Condition", "For", "Severity", "What to do"), rows)


def _words(condition: Condition) -> str:
    if isinstance(condition, Both):
        return " and ".join(
            f"({_words(part)})" if isinstance(part, Either) else _words(part) for part in condition.parts
        )
    if isinstance(condition, Either):
        return " or ".join(_words(part) for part in condition.parts)
    sign = ">" if isinstance(condition, Over) else "<"
    return f"{condition.figure.partition(':')[2]} {sign} {_bound(condition.bound)}"


def _bound(bound: Bound) -> str:
    factor = "" if bound.factor == 1 else f"{bound.factor:g} x "
    if bound.number is not None:
        return f"{bound.number:g}"
    return f"{factor}{bound.figure.partition(':')[2]}" if bound.figure else f"{factor}{LIMITS[bound.limit or '']}"


LIMITS = {
    "ttft_p95": "its target",
    "tpot_p95": "its target",
    "search_p95": "its target",
    "memory": "the store's memory",
    "queue": "the fitted threshold",
    "hit_rate": "the baseline's",
    "throughput": "what was measured",
}
PARTS: dict[str, Callable[[], str]] = {"figures": _figures, "sources": _sources, "triggers": _triggers}


if __name__ == "__main__":
    FILE.write_text(refreshed(FILE.read_text(encoding="utf-8")), encoding="utf-8")
