"""`plan verify`: every published run answered, those past a limit found, and bad rows named."""

import csv
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rackwright.capacity.accuracy import verification_text
from rackwright.capacity.measurements import REQUIRED, Measurement, Unanswered, read_measurements
from rackwright.capacity.verification import as_data, errors, quantile, verify
from rackwright.errors import Refusal

GOOD = {
    "model": "openai/gpt-oss-120b", "gpu": "h200_sxm", "weights": "nvfp4", "tensor_parallel": "2",
    "input_tokens": "1024", "output_tokens": "128", "concurrency": "4", "ttft_ms": "60", "tpot_ms": "5",
}  # fmt: skip


NO_TABLES = (
    ("", "has no column model"),
    ("model,gpu\na,b\n", "has no column weights"),
    (",".join(REQUIRED), "has no rows"),
)
CELLS = st.sampled_from([*GOOD, "moe_weights", "data_parallel", "engine_version", "measured"])


def rows_of(tmp_path, *rows):
    file = tmp_path / "rows.csv"
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(dict.fromkeys(key for row in rows for key in row)))
        writer.writeheader()
        writer.writerows(rows)
    return file


def test_every_published_run_is_answered(verification):
    assert len(verification.judged) == 270
    assert not verification.unanswered


def test_every_run_past_a_limit_is_found(verification):
    """Their times to the first token are mostly waiting: at least 3 s and 5 times those of half the load."""
    past = {each.row.line for each in verification.limited}
    waiting = {each.row.line for each in verification.judged if each.row.ttft_ms > 5000}
    assert waiting <= past
    assert len(past) <= len(waiting) + 2


def test_runs_that_the_cache_limits_are_reckoned_too(verification):
    found = [each for each in verification.limited if each.limit == "cache" and each.row.concurrency < 512]
    assert len(found) == 5
    assert all(abs(each.ttft_error) < 0.45 and abs(each.tpot_error) < 0.2 for each in found)


def test_errors_away_from_limits_are_small(verification):
    free = verification.free
    tpot, ttft = errors(each.tpot_error for each in free), errors(each.ttft_error for each in free)
    assert tpot.mean < 0.08
    assert tpot.p90 < 0.16
    assert ttft.mean < 0.13


def test_the_answer_is_json_with_every_part(verification):
    data = json.loads(json.dumps(as_data(verification)))
    assert data["answered"] == data["rows"] == 270
    assert set(data["by_gpu"]) == {"h100_sxm", "h200_sxm"}
    assert set(data["by_model"]["openai/gpt-oss-120b"]["tpot"]) == {"rows", "mean", "median", "p90", "worst"}
    assert len(data["past_limit"]) == len(verification.limited)
    row = data["predictions"][0]
    assert row["assumed"]["max_num_batched_tokens"] == 8192
    assert row["past_limit"] is False


def test_the_text_has_tables_by_model_and_gpu(verification):
    text = verification_text(verification)
    for words in ("270 rows, 270 answered", "MiniMaxAI/MiniMax-M2.5", "h100_sxm", "Past a limit (14 rows"):
        assert words in text


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"model": "acme/nothing"}, "The model 'acme/nothing' is not known."),
        ({"gpu": "h1000_sxm"}, "did you mean h100_sxm"),
        ({"tensor_parallel": "two"}, "tensor_parallel is 'two'"),
        ({"concurrency": "0"}, "concurrency is '0'"),
        ({"concurrency": "1e9"}, "concurrency is '1e9'"),
        ({"input_tokens": "-5"}, "input_tokens is '-5'"),
        ({"ttft_ms": "nan"}, "ttft_ms is 'nan'"),
        ({"tpot_ms": ""}, "tpot_ms is ''"),
        ({"weights": "fp3"}, "The precision 'fp3' is not known."),
        ({"model": "meta-llama/Llama-3.1-405B", "weights": "bfloat16"}, "not one sequence of 1152 tokens fits"),
    ],
)
def test_a_row_that_cannot_be_reckoned_says_why(tmp_path, change, reason):
    found = verify(rows_of(tmp_path, GOOD, {**GOOD, **change}))
    assert len(found.judged) == 1
    assert found.unanswered[0].line == 3
    assert reason.lower() in found.unanswered[0].reason.lower()


@pytest.mark.parametrize(
    "name",
    [
        "nvidia/Llama-3.3-70B-Instruct-FP8", "RedHatAI/Llama-3.3-70B-Instruct-fp8-dynamic", "openai/gpt-oss-20b",
        "deepseek-ai/DeepSeek-R1-0528", "nvidia/DeepSeek-R1-0528-FP4", "moonshotai/Kimi-K2.5", "microsoft/phi-4",
        "Qwen/Qwen3-235B-A22B-Instruct-2507-FP8", "Qwen/Qwen3.5-397B-A17B", "zai-org/GLM-5-FP8", "Qwen/QwQ-32B-AWQ",
        "mistralai/Mistral-Small-3.1-24B-Instruct-2503", "MiniMaxAI/MiniMax-M2.1", "nvidia/Kimi-K2.5-NVFP4",
        "deepseek-ai/DeepSeek-R1-Distill-Llama-70B", "google/gemma-3-27b-it", "zai-org/GLM-4.6-FP8",
    ],
)  # fmt: skip
@pytest.mark.parametrize("gpu", ["b200_sxm", "b300_sxm", "h200_sxm"])
def test_other_models_and_gpus_are_answered(tmp_path, name, gpu):
    row = {**GOOD, "model": name, "gpu": gpu, "weights": "fp8", "tensor_parallel": "8", "moe_weights": "fp8"}
    found = verify(rows_of(tmp_path, row))
    assert not found.unanswered, found.unanswered[0].reason
    assert 0.5 < found.judged[0].tpot_ms < 60


def test_short_names_of_gpus_are_known(tmp_path):
    found = verify(rows_of(tmp_path, {**GOOD, "gpu": "h100"}, {**GOOD, "gpu": "GB200"}))
    assert [each.row.replica.hardware.name for each in found.judged] == ["h100_sxm", "b200_sxm"]


def test_what_is_no_table_is_refused(tmp_path):
    for text, words in NO_TABLES:
        file = tmp_path / "table.csv"
        file.write_text(text)
        with pytest.raises(Refusal, match=words):
            read_measurements(file)
    with pytest.raises(Refusal, match="cannot be read"):
        read_measurements(tmp_path / "nothing.csv")


@settings(max_examples=200)
@given(
    changes=st.dictionaries(
        st.sampled_from([*GOOD, "moe_weights", "data_parallel", "engine_version", "measured"]),
        st.text(max_size=12),
        max_size=4,
    )
)
def test_any_cell_is_a_measurement_or_a_reason(tmp_path_factory, changes):
    file = tmp_path_factory.mktemp("fuzz") / "rows.csv"
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(GOOD | changes))
        writer.writeheader()
        writer.writerow({key: value.encode("utf-8", "replace").decode() for key, value in (GOOD | changes).items()})
    try:
        rows = read_measurements(file)
    except Refusal:
        return
    assert all(isinstance(row, (Measurement, Unanswered)) for row in rows)


def test_quantiles_lie_between_the_nearest():
    assert quantile([1.0], 0.9) == 1.0
    assert quantile([0.0, 1.0], 0.9) == pytest.approx(0.9)
    assert errors([]) is None
