"""Baselines: what is fitted, what is kept, and what a broken file is answered with."""

import pytest
from recorded import ramp, recorded

from rackwright.errors import Refusal
from rackwright.observe import baseline
from rackwright.observe.baseline import Baseline, ModelBaseline
from rackwright.observe.fitting import baselines, fit_queue
from rackwright.observe.series import Series, load, save


def test_the_threshold_is_where_the_line_meets_the_target():
    queues = list(range(40))
    fitted, why = fit_queue(queues, [0.2 + 0.05 * queue for queue in queues], 1.0, 128)
    assert fitted == pytest.approx(16, abs=0.1)
    assert "200 ms and 50 ms" in why


def test_nothing_is_fitted_to_a_queue_that_does_not_matter():
    fitted, why = fit_queue(list(range(40)), [0.4 + 0.2 * (step % 2) for step in range(40)], 1.0, 128)
    assert fitted is None
    assert "does not follow" in why
    assert fit_queue([0] * 40, [0.4] * 40, 1.0, 128)[0] is None


def test_the_threshold_stays_within_the_batch():
    queues = list(range(40))
    assert fit_queue(queues, [0.2 + 0.001 * queue for queue in queues], 60.0, 128)[0] == 128
    assert fit_queue(queues, [2.0 + 0.05 * queue for queue in queues], 1.0, 128)[0] == 1


def test_a_load_test_is_recorded_and_comes_back(lab, tmp_path):
    series = recorded(queue=ramp(0, 40), ttft_p95=ramp(0.2, 2.2), model="qwen3-32b")
    (found,) = baselines(lab, 1, series, "a test")
    assert found.ttft_ms.p95 == pytest.approx(1200, rel=0.02)
    assert found.queue == pytest.approx(16, rel=0.05)
    file = baseline.save(Baseline().with_model(found), tmp_path)
    assert baseline.load(tmp_path).models == (found,)
    assert "threshold of the queue: 1" in baseline.text(baseline.load(tmp_path))
    assert [each.name for each in tmp_path.iterdir()] == [file.name]


def test_a_second_measurement_keeps_what_it_does_not_know():
    first = Baseline().with_model(ModelBaseline(model="m", source="Prometheus", queue=12, hit_rate=0.5))
    second = first.with_model(ModelBaseline(model="m", source="bench", hit_rate=0.6))
    assert (second.models[0].queue, second.models[0].hit_rate) == (12, 0.6)


def test_a_model_without_load_is_no_baseline(lab):
    with pytest.raises(Refusal, match="No model of llama-70b, qwen3-32b was seen under load"):
        baselines(lab, 1, Series(start=0, step_s=15, figures={}), "a test")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"models": [{"model": "m"}]}', '{"storage": {"a": -1}}', '{"x": 1}'])
def test_a_broken_baseline_is_one_sentence(tmp_path, text):
    (tmp_path / baseline.FILE_NAME).write_text(text)
    with pytest.raises(Refusal, match=r"baseline\.json"):
        baseline.load(tmp_path)


def test_no_baseline_is_none(tmp_path):
    assert baseline.load(tmp_path) is None


def test_series_come_back_as_they_were(tmp_path):
    series = recorded(queue=lambda step: None if step < 3 else 1.0)
    save(series, tmp_path / "series.json")
    assert load(tmp_path / "series.json") == series


@pytest.mark.parametrize("text", ["", "{}", '{"start": 0, "step_s": 0, "figures": {}}'])
def test_a_broken_series_file_is_one_sentence(tmp_path, text):
    file = tmp_path / "series.json"
    file.write_text(text)
    with pytest.raises(Refusal, match=r"series\.json"):
        load(file)


def test_a_figure_that_nobody_knows_is_refused(tmp_path):
    file = tmp_path / "series.json"
    file.write_text('{"start": 0, "step_s": 15, "figures": {"model:mood": {}}}')
    with pytest.raises(Refusal, match="model:mood"):
        load(file)
