"""Advice from recorded series whose answer is known."""

import sys
from pathlib import Path

import pytest

from rackwright.advice.advice import advice_data, advice_text
from rackwright.advice.advise import advise
from rackwright.errors import Refusal
from rackwright.observe.series import Series
from rackwright.site.models import Model
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "observe"))
from recorded import ramp, recorded  # noqa: E402


@pytest.fixture(scope="module")
def lab():
    return Site.load(ROOT / "inventory" / "lab")


def of(said, subject="llama-70b"):
    return [each for each in said if each.subject == subject]


def test_a_healthy_model_is_fine_and_one_that_is_not_seen_is_told(lab):
    said = advise(lab, 1, recorded())
    assert [each.verdict for each in of(said)] == ["fine"]
    assert [each.verdict for each in of(said, "qwen3-32b")] == ["unseen"]


def test_a_spike_that_is_over_is_fine_and_remembered(lab):
    (said,) = of(advise(lab, 1, recorded(queue=lambda step: 500 if 60 <= step < 90 else 0)))
    assert said.verdict == "fine"
    assert "QueueTooLong did and is over" in said.why


def test_more_than_phase_1_carries_means_phase_2(lab):
    """All eight GPUs of phase 1 are given away."""
    (said,) = of(advise(lab, 1, recorded(queue=200, calls=20.0, hit_rate=0.1, hit_rate_usual=0.1)))
    assert said.verdict == "phase 2"
    assert "more GPUs" in said.what
    assert {rests.name for rests in said.rests_on} >= {"Calls that wait", "Replicas needed", "GPUs free in this phase"}


def test_what_phase_2_carries_as_planned_is_said(lab):
    (said,) = of(advise(lab, 1, recorded(queue=200, calls=6.0)))
    assert said.verdict == "phase 2"
    assert "its 4 replicas carry this" in said.what


def test_more_than_phase_2_has_free_is_bought_or_scaled(lab):
    light = recorded(queue=300, calls=2.0)
    heavy = recorded(queue=300, calls=40.0, hit_rate=0.0, hit_rate_usual=0.0)
    assert of(advise(lab, 2, heavy))[0].verdict == "buy"
    assert of(advise(lab, 2, light))[0].verdict in ("mend", "scale")


def test_replicas_that_should_do_are_looked_at_before_buying(lab):
    (said,) = of(advise(lab, 2, recorded(queue=300, calls=0.2)))
    assert said.verdict == "mend"
    assert "before buying" in said.what


def test_prefill_apart_is_advised_where_it_pays(lab):
    busy = recorded(
        model="qwen3-32b",
        ttft_p95=ramp(0.5, 1.1), calls=2.0, prompt_mean=8192.0, output_mean=300.0, hit_rate=0.0, hit_rate_usual=0.0,
    )  # fmt: skip
    said = of(advise(lab, 2, busy), "qwen3-32b")
    assert [each.verdict for each in said] == ["disaggregate"]
    names = {rests.name for rests in said[0].rests_on}
    assert {"Trend of the first token", "Transfer of a prompt's cache", "Further tokens together and apart"} <= names
    assert "cost" in said[0].what
    assert "disaggregation: {prefill: " in said[0].what  # what to write


def test_a_model_that_is_divided_already_is_not_advised_to_be(lab):
    parts = {"replicas": 4, "disaggregation": {"prefill": 1, "decode": 3}}
    models = tuple(Model.model_validate(each.model_dump() | {"phase2": parts}) for each in lab.models)
    busy = recorded(ttft_p95=ramp(0.3, 0.9), ttft_usual=0.9)
    said = advise(lab.model_copy(update={"models": models}), 2, busy)
    assert all("aggregate" not in each.verdict for each in said)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"kv_usage": 0.97}, "limited by the KV cache"),
        ({"gpu_utilisation": 0.95}, "GPUs are full"),
        ({"gpu_utilisation": lambda _: None}, "GPUs was not seen"),
        ({"calls": 0.05}, "would not pay"),
    ],
)
def test_prefill_apart_is_refused_with_the_reason(lab, change, word):
    series = recorded(**{"ttft_p95": ramp(0.3, 0.9), "ttft_usual": 0.9, **change})
    said = [each for each in of(advise(lab, 2, series)) if each.verdict == "do not disaggregate"]
    assert len(said) == 1
    assert word in said[0].why


def test_without_a_rise_nobody_speaks_of_it(lab):
    assert all("aggregate" not in each.verdict for each in advise(lab, 2, recorded()))


def test_stores_and_volumes_are_advised_too(lab):
    figures = dict(recorded().figures)
    figures["store:search_p95"] = {"qdrant-0": (0.2,) * 160}
    figures["volume:used"] = {"postgres postgres-1": (0.95,) * 160}
    said = advise(lab, 1, Series(start=0, step_s=15, figures=figures))
    assert {each.subject for each in said if each.verdict == "mend"} == {"qdrant-0", "postgres postgres-1"}
    assert "200 ms" in advice_text(of(said, "qdrant-0"))


def test_a_trigger_from_which_nothing_follows_is_told(lab):
    slow = recorded(ttft_p95=ramp(0.3, 0.9), calls=0.05)
    fine = of(advise(lab, 1, slow))[0]
    assert fine.verdict == "fine"
    assert "holds, and nothing follows" in fine.why


def test_each_advice_names_what_it_rests_on(lab):
    said = advise(lab, 1, recorded(queue=200, calls=20.0))
    assert all(each["rests_on"] for each in advice_data(said))
    assert all(rests["origin"] for each in advice_data(said) for rests in each["rests_on"])


def test_nothing_at_all_is_one_sentence(lab):
    with pytest.raises(Refusal, match="No figure"):
        advise(lab, 1, Series(start=0, step_s=15, figures={}))


def test_phase_1_reckons_prefill_apart_with_the_replicas_of_phase_2(lab):
    busy = recorded(ttft_p95=ramp(0.3, 0.9), prompt_mean=8192.0, output_mean=300.0, hit_rate=0.0, hit_rate_usual=0.0)
    (said,) = [each for each in of(advise(lab, 1, busy)) if "aggregate" in each.verdict]
    assert "cannot be divided" not in said.why
