"""docs/capacity.md: its figures are those of the data, and its promises are the commands."""

import re

from rackwright.capacity.document import FILE, PART, PARTS, refreshed


def test_generated_parts_are_current():
    text = FILE.read_text(encoding="utf-8")
    assert refreshed(text) == text, "run `rackwright plan document`"
    assert {found[1] for found in PART.finditer(text)} == set(PARTS)


def test_files_that_it_names_are_there():
    root = FILE.parents[1]
    for name in re.findall(r"`((?:rackwright|tests|benchmarks)/[\w./]+)`", FILE.read_text(encoding="utf-8")):
        assert (root / name).exists(), name
