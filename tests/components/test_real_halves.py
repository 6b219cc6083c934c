"""A model whose prompts are computed apart: llm-d's own picker and door behind the real Envoy, over its simulators."""

import sys
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from waiting import until

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from divided_rack import DividedRack, door_program  # noqa: E402 - beside the tests
from simulated_rack import MODEL, ProgramMissingError, key_of, programs  # noqa: E402

WAY = f"/{MODEL.name}/v1/completions"
WORDS = "one two six ten "  # four tokens, to the picker's estimate and to the simulator alike


@pytest.fixture(scope="module", autouse=True)
def found() -> None:
    """The programs are there; else everything here is left out, and says so."""
    try:
        programs()
        door_program()
    except ProgramMissingError as missing:
        warnings.warn(str(missing), stacklevel=1)
        pytest.skip(str(missing))


@pytest.fixture
def rack(tmp_path):
    with DividedRack(tmp_path, replicas=4, prefill=2) as running:
        yield running


class FullCaches(DividedRack):
    """Those that answer say that their caches are full: real engines then let requests wait."""

    def run(self, words, name, known):
        full = name.startswith("sim-") and int(name.removeprefix("sim-")) not in self.computing
        return super().run([*words, '--fake-metrics={"kv-cache-usage": 1.0}'] if full else words, name, known)


@pytest.fixture
def full(tmp_path):
    with FullCaches(tmp_path, replicas=4, prefill=2) as running:
        yield running


@contextmanager
def calling(rack):
    headers = {"authorization": f"Bearer {key_of('interactive')}"}
    url = f"https://127.0.0.1:{rack.place.https_port}"
    with httpx.Client(base_url=url, verify=str(rack.folder / "tls.crt"), headers=headers, timeout=60) as made:
        yield made


@pytest.fixture
def client(rack):
    with calling(rack) as made:
        yield made


def ask(client, prompt, **headers):
    body = {"model": MODEL.name, "prompt": prompt, "max_tokens": 5, "ignore_eos": True}
    return client.post(WAY, json=body, headers=headers)


def total(text: str, name: str, *labels: str) -> float:
    lines = [line for line in text.splitlines() if line.startswith((f"{name}{{", f"{name} "))]
    return sum(float(line.rsplit(maxsplit=1)[1]) for line in lines if all(label in line for label in labels))


def served(rack, port) -> float:
    """Requests that a replica has answered."""
    return total(rack.figures(port), "vllm:request_success_total")


def computed(rack) -> float:
    """Prompts that the half which computes has had."""
    return sum(served(rack, port) for port in rack.computing if rack.simulated[port].poll() is None)


def decided(rack) -> dict[str, float]:
    """What the first picker decided, and how often."""
    text = rack.figures(rack.picker_ports[0][2])
    kinds = ("prefill-decode", "decode-only")
    return {kind: total(text, "llm_d_epp_disagg_decision_total", f'decision_type="{kind}"') for kind in kinds}


def test_a_long_prompt_is_computed_by_one_half_and_answered_by_the_other(rack, client):
    answer = ask(client, WORDS * 250)
    assert answer.status_code == 200
    assert int(answer.headers["x-inference-port"]) in rack.engines.values()
    assert computed(rack) == 1
    assert decided(rack) == {"prefill-decode": 1, "decode-only": 0}


def test_later_turns_are_computed_where_their_prefix_is(rack, client):
    turns = [WORDS * (250 + 20 * turn) for turn in range(4)]
    answers = [ask(client, turn) for turn in turns]
    assert [answer.status_code for answer in answers] == [200] * 4
    assert len({answer.headers["x-inference-port"] for answer in answers}) == 1
    assert computed(rack) == 1  # the first turn alone
    assert decided(rack) == {"prefill-decode": 1, "decode-only": 3}


def test_a_short_prompt_is_computed_where_it_is_answered(rack, client):
    assert ask(client, WORDS * 10).status_code == 200
    assert computed(rack) == 0
    assert decided(rack) == {"prefill-decode": 0, "decode-only": 1}


def test_a_stream_is_one_to_its_end(rack, client):
    body = {"model": MODEL.name, "prompt": WORDS * 250, "max_tokens": 20, "ignore_eos": True, "stream": True}
    with client.stream("POST", WAY, json=body) as answer:
        events = [line for line in answer.iter_lines() if line.startswith("data: ")]
    assert answer.status_code == 200
    assert events[-1] == "data: [DONE]"
    assert len(events) > 15
    assert computed(rack) == 1


def test_prompts_go_round_who_computes_and_who_answers(rack, client):
    """Different prompts, one after the other, each with nothing in common with the last."""
    for number in range(12):
        assert ask(client, f"{number}aa " * 600).status_code == 200
    assert computed(rack) == 12
    assert all(served(rack, port) > 0 for port in rack.engines.values())


def test_who_computes_may_die_and_nobody_is_refused(rack, client):
    assert ask(client, WORDS * 250).status_code == 200
    first = next(port for port in rack.computing if served(rack, port))
    rack.simulated[first].kill()
    rack.simulated[first].wait()
    end, number = time.monotonic() + 3, 0
    while time.monotonic() < end:
        number += 1
        assert ask(client, f"{number}bb " * 600).status_code == 200
    before = computed(rack)
    assert [ask(client, f"{number}cc " * 600).status_code for number in range(4)] == [200] * 4
    assert computed(rack) == before + 4  # by the one that is left


def test_all_that_compute_may_die_and_those_that_answer_do(rack, client):
    for port in rack.computing:
        rack.simulated[port].kill()
        rack.simulated[port].wait()
    end, number = time.monotonic() + 3, 0
    while time.monotonic() < end:
        number += 1
        assert ask(client, f"{number}dd " * 600).status_code == 200


def test_an_engine_may_die_behind_its_door(rack, client):
    port = int(ask(client, WORDS * 10).headers["x-inference-port"])
    rack.simulated[port].kill()
    rack.simulated[port].wait()
    end = time.monotonic() + 3
    while time.monotonic() < end:
        assert ask(client, WORDS * 10).status_code == 200


def test_full_caches_of_all_that_answer_refuse_nobody(full):
    """Those that compute have room, and are nobody's to answer: whoever answers lets the request wait."""
    used = "llm_d_epp_average_kv_cache_utilization"
    until(lambda: total(full.figures(full.picker_ports[0][2]), used) >= 0.5)
    with calling(full) as client:
        answer = ask(client, WORDS * 250)
        assert answer.status_code == 200, answer.text
        assert int(answer.headers["x-inference-port"]) in full.engines.values()


def test_a_client_says_nothing_of_who_computes(rack, client):
    nobody = "127.0.0.1:9"
    assert ask(client, WORDS * 10, **{"x-prefiller-host-port": nobody}).status_code == 200
    assert ask(client, WORDS * 250, **{"x-prefiller-host-port": nobody}).status_code == 200
    assert computed(rack) == 1
