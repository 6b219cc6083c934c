"""The document, and the names that figures read, are those of what is pinned."""

import re

import pytest

from rackwright.errors import Refusal
from rackwright.observe.document import FILE, refreshed
from rackwright.observe.figures import FIGURES
from rackwright.observe.sources import GPU_COUNTERS, SOURCES, check, gpu_counters
from rackwright.observe.triggers import TRIGGERS, figures_of


def test_the_document_is_up_to_date():
    text = FILE.read_text()
    assert refreshed(text) == text, "python -m rackwright.observe.document writes it"


def test_the_pinned_engine_knows_every_name(catalog):
    known = set(catalog.engine.metrics)
    for figure in FIGURES.values():
        for name in re.findall(r"vllm:\w+", figure.expression):
            assert {name, re.sub(r"_(total|bucket|sum|count)$", "", name)} & known, name


def test_the_exporter_is_told_to_give_every_gpu_metric():
    given = {name for name, _, _ in GPU_COUNTERS}
    read = {name for figure in FIGURES.values() for name in re.findall(r"DCGM_\w+", figure.expression)}
    assert read <= given
    assert all(line.count(",") == 2 for line in gpu_counters().splitlines())


def test_a_pin_whose_names_nobody_read_is_refused(catalog):
    check(catalog)
    moved = catalog.model_copy(update={"engine": catalog.engine.model_copy(update={"version": "v9.9.9"})})
    with pytest.raises(Refusal, match=r"were read of v0.30.0, and the catalog pins v9.9.9"):
        check(moved)


def test_every_figure_has_a_source_and_every_trigger_its_figures():
    assert {figure.source for figure in FIGURES.values()} == set(SOURCES)
    for trigger in TRIGGERS:
        assert {FIGURES[name].level for name in figures_of(trigger.condition)} == {trigger.level}
