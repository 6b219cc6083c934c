"""`rackwright plan` as a process: a site by default, its other words beside it, one sentence for what is wrong."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUNS = ROOT / "tests" / "fixtures" / "capacity" / "vllm_calibration.csv"


def test_a_site_is_planned_without_a_word_between(rackwright):
    done = rackwright("plan", "lab")
    assert done.returncode == 0, done.stderr
    assert "Phase 1: 8 GPUs" in done.stdout
    assert rackwright("plan", "site", "lab").stdout == done.stdout


def test_json_has_what_the_text_has(rackwright):
    data = json.loads(rackwright("plan", "lab", "--json").stdout)
    assert data["ok"] is True
    assert [phase["phase"] for phase in data["phases"]] == [1, 2]


def test_shares_are_read(rackwright):
    assert rackwright("plan", "lab", "--share", "llama-70b=0.9").returncode == 0
    wrong = rackwright("plan", "lab", "--share", "llama-70b")
    assert wrong.returncode == 2
    assert "is not MODEL=SHARE" in wrong.stderr


def test_measurements_are_verified(rackwright):
    data = json.loads(rackwright("plan", "verify", RUNS, "--json").stdout)
    assert data["answered"] == 270
    assert data["errors"]["tpot"]["mean"] < 0.08


def test_memory_is_what_the_log_would_say(rackwright):
    done = rackwright(
        "plan", "memory", "meta-llama/Llama-3.1-8B-Instruct", "--gpu", "h100_sxm", "--memory-fraction", "0.95",
        "--engine-version", "0.19.0", "--context-length", "8192",
    )  # fmt: skip
    assert "Available KV cache memory: 58.12 GiB" in done.stdout
    assert "Maximum concurrency for 8,192 tokens per request: 58.12x" in done.stdout


def test_what_cannot_be_is_one_sentence(rackwright):
    for arguments, words in (
        (("memory", "Llama-3.1-70B", "--gpu", "h100_sxm"), "does not fit on h100_sxm"),
        (("memory", "Llama-9", "--gpu", "h100_sxm"), "is not known"),
        (("memory", "Llama-3.1-8B", "--gpu", "h100"), "is not known"),
        (("memory", "Llama-3.1-8B", "--gpu", "h100_sxm", "--precision", "fp3"), "is not known"),
        (("verify", "nowhere.csv"), "cannot be read"),
        (("fit", ROOT / "README.md"), "has no column"),
        (("compare", "lab", "--model", "nobody"), "serves no nobody"),
    ):
        done = rackwright("plan", *arguments)
        assert done.returncode == 1, arguments
        assert words in done.stderr
        assert len(done.stderr.splitlines()) == 2


def test_wrong_usage_is_told_apart(rackwright):
    assert rackwright("plan", "nowhere").returncode == 2
    assert rackwright("plan", "memory", "Llama-3.1-8B").returncode == 2
    assert rackwright("plan", "--help").returncode == 0


@pytest.mark.parametrize(
    "share", ["x", "qwen3-32b=nan", "qwen3-32b=inf", "qwen3-32b=-1", "qwen3-32b=2", "=0.5", "qwen3-32b=half"]
)
def test_a_share_is_a_number_from_0_to_1(rackwright, share):
    done = rackwright("plan", "lab", "--share", share)
    assert done.returncode == 2
    assert "is not MODEL=SHARE with a share from 0 to 1" in done.stderr


def test_two_shares_of_one_model_are_told(rackwright):
    done = rackwright("plan", "lab", "--share", "qwen3-32b=0.5", "--share", "qwen3-32b=0.7")
    assert done.returncode == 2
    assert "qwen3-32b has two shares, 0.5 and 0.7; state one" in done.stderr


@pytest.mark.parametrize("option", [("--memory-gb", 0), ("--engine-version", "x"), ("--engine-version", "0")])
def test_what_is_no_memory_and_no_version_is_wrong_usage(rackwright, option):
    done = rackwright("plan", "memory", "Llama-3.1-8B", "--gpu", "h100_sxm", *option)
    assert done.returncode == 2
    assert done.stdout == ""
