"""The table of checks as Markdown, out of the checks themselves; `python -m` with this module renews the page."""

import inspect
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

from rackwright.preflight.finding import MEANING, Weight
from rackwright.preflight.judge import Check, checks, spoken

BEGIN, END = "<!-- begin: made from rackwright/preflight/checks -->", "<!-- end -->"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "preflight.md"
MAKERS = {"forbids": Weight.FORBIDS, "changes": Weight.CHANGES, "warns": Weight.WARNS}


def reference() -> str:
    """What each weight means, and every check with the weights that it gives."""
    meanings = "\n".join(f"- **{weight}**: {meaning}." for weight, meaning in MEANING.items())
    rows = "\n".join(_row(check) for check in checks())
    return f"{BEGIN}\n{meanings}\n\n| Concern | Check | What it asks for | Weight |\n|---|---|---|---|\n{rows}\n{END}"


def renewed(page: str) -> str:
    """A page with the table in it renewed."""
    before, _, rest = page.partition(BEGIN)
    return before + reference() + rest.partition(END)[2]


def _row(check: Check) -> str:
    concern = check.__module__.rpartition(".")[2].replace("_", " ")
    weights = ", ".join(weight for maker, weight in MAKERS.items() if maker in set(_names(check.__code__)))
    return f"| {concern} | {spoken(check)} | {inspect.getdoc(check)} | {weights} |"


def _names(code: CodeType) -> Iterator[str]:
    """Every name that a function uses, in expressions inside it as well."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
