"""The page: nothing from elsewhere, well formed, and the plan's own figures in it."""

import dataclasses
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from rackwright.capacity.report.charts import Line, Plot, bar, columns, plot, scatter
from rackwright.capacity.report.page import page, write
from rackwright.capacity.report.scale import Scale, apart, ticks
from rackwright.capacity.site_plan import plan
from rackwright.errors import Refusal
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]
VOID = {"meta"}


class Reader(HTMLParser):
    """Every tag closed, every address noted."""

    def __init__(self):
        super().__init__()
        self.open, self.addresses, self.words = [], [], []

    def handle_starttag(self, tag, attrs):
        self.addresses += [value for name, value in attrs if name in ("href", "src", "srcset", "action", "data")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, _tag, attrs):
        self.addresses += [value for name, value in attrs if name in ("href", "src", "xlink:href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module", params=["example", "lab", "workstation"])
def written(request):
    site = Site.load(ROOT / "inventory" / request.param)
    phases = plan(site)
    return site, phases, page(site, phases)


def read(text):
    reader = Reader()
    reader.feed(text)
    assert not reader.open
    return reader


def test_it_needs_nothing_from_elsewhere(written):
    _, _, text = written
    assert not read(text).addresses
    assert not re.search(r"url\(|@import|<script|<link|<img|https?://", text)


def test_it_shows_what_the_plan_says(written):
    site, phases, text = written
    words = " ".join(read(text).words)
    for each in phases:
        assert f"Phase {each.phase}" in words
        for model in each.models:
            assert f"{model.replica.log_tokens:,} tokens of cache" in words
            assert model.sized.gives_way in words
    assert f"{site.workload.agents:,} agents" in words


def test_every_figure_in_a_picture_is_a_number(written):
    _, _, text = written
    assert "nan" not in re.sub(r"<style>.*</style>", "", text, flags=re.DOTALL).lower().split('points="', 1)[1][:20]
    for attribute in re.findall(r'(?:points|x|y|x1|x2|y1|y2|cx|cy|width|height)="([^"]*)"', text):
        if attribute != "device-width":
            assert re.fullmatch(r"[-0-9., ]*", attribute), attribute


def test_light_dark_and_paper_are_thought_of(written):
    _, _, text = written
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text


def test_a_load_that_is_not_carried_is_drawn_too():
    site = Site.load(ROOT / "inventory" / "example")
    heavy = site.model_copy(update={"workload": site.workload.model_copy(update={"users": 100_000})})
    assert "it is NOT carried" in page(heavy, plan(heavy))


def test_names_are_written_as_text():
    site = Site.load(ROOT / "inventory" / "example")
    odd = site.model_copy(update={"name": "<script>alert(1)</script>"})
    assert "<script" not in page(odd, plan(site))


def test_a_folder_is_no_file(tmp_path):
    site = Site.load(ROOT / "inventory" / "example")
    with pytest.raises(Refusal, match="cannot be written"):
        write(site, plan(site), tmp_path)


@pytest.mark.parametrize("high", [0.0, 1e-6, 0.3, 1, 7, 99.9, 1000, 123456789, float("inf")])
def test_an_axis_has_a_few_round_figures_and_ends_past_the_last(high):
    found = ticks(high)
    assert 2 <= len(found) <= 8
    assert found[0] == 0
    assert found[-1] >= min(high, 1e12) or high == float("inf")


def test_names_do_not_lie_over_one_another():
    placed = sorted(apart([10, 11, 11, 40], 13))
    assert all(after - before >= 13 for before, after in pairwise(placed))
    assert Scale(0, 0, 5, 10).at(3) == 5


def test_pictures_of_next_to_nothing_are_pictures():
    line = Line("a", 1, [(1.0, 2.0)])
    for picture in (
        plot(Plot("t", "x", "y", [line], now=(1.0, 2.0))),
        plot(dataclasses.replace(Plot("t", "x", "y", [line]), lines=[Line("a", 1, [])], highest=1, farthest=1)),
        bar("t", 10, "GiB", [("a", 10, 1), ("b", 0, 0)]),
        scatter("t", "x", "y", [(1, 1, "a", True)]),
        columns("t", "x", "y", [("P50", 1.0)]),
    ):
        read(picture)
