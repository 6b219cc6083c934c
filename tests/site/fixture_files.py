"""Fixtures of sites: whole valid ones, and invalid ones as the smallest change of a valid one."""

from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
VALID = ROOT / "tests" / "fixtures" / "valid"
INVALID = ROOT / "tests" / "fixtures" / "invalid"
CATALOG = ROOT / "inventory" / "catalog.yml"
EXPECTS = "# expects: "


@dataclass(frozen=True)
class Invalid:
    """What an invalid fixture stands for: a text, the one fault in it, and the lines where that may be shown."""

    name: str
    text: str
    catalog: str | None
    path: str
    what: str
    lines: frozenset[int]


def valid_files() -> list[Path]:
    """Every site that must pass: the samples and the shapes."""
    return sorted((ROOT / "inventory").glob("*/site.yml")) + sorted(VALID.glob("*.yml"))


def valid_file(name: str) -> Path:
    """A sample or a shape by its name."""
    sample = ROOT / "inventory" / name / "site.yml"
    return sample if sample.exists() else VALID / f"{name}.yml"


def read_invalid(file: Path) -> Invalid:
    """A fixture: `base` names a valid site (absent: the catalog), `edits` what is found there and written in its place.

    The fault must be shown in a line that an edit wrote, or in the line that holds the text `at`.
    """
    first, _, rest = file.read_text().partition("\n")
    path, _, what = first.removeprefix(EXPECTS).partition(": ")
    fixture = yaml.safe_load(rest)
    base = valid_file(fixture["base"]) if "base" in fixture else CATALOG
    text, lines = edited(base.read_text(), fixture.get("edits", []))
    if "at" in fixture:
        lines = frozenset(number for number, line in enumerate(text.split("\n"), 1) if fixture["at"] in line)
    catalog = edited(CATALOG.read_text(), fixture["catalog"])[0] if "catalog" in fixture else None
    return Invalid(file.stem, text, catalog, path, what, lines)


def edited(text: str, edits: list[dict[str, str]]) -> tuple[str, frozenset[int]]:
    """A text after its edits, each at the first place where it fits, and the lines that were written."""
    marked = text
    for number, edit in enumerate(edits):
        assert edit["find"] in marked, f"nothing to edit: {edit['find']}"
        marked = marked.replace(edit["find"], f"\x00{number}\x00{edit['write']}\x01", 1)
    lines: set[int] = set()
    inside, line = 0, 1
    for character in marked:
        inside += {"\x00": 0.5, "\x01": -1}.get(character, 0)
        line += character == "\n"
        if inside >= 1:
            lines.add(line)
    for number in range(len(edits)):
        marked = marked.replace(f"\x00{number}\x00", "")
    return marked.replace("\x01", ""), frozenset(lines)
