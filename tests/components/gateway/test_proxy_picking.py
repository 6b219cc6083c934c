"""Models with pickers, through the real Envoy: who is asked, who is obeyed, and what happens when they are away."""

import time

import httpx
import pytest
from stand_in_engine import Engine
from stand_in_picker import DESTINATION, Picker

CHAT = "/llama/v1/chat/completions"


@pytest.fixture
def replica():
    """A replica that no name leads to: only a picker does."""
    engine = Engine()
    yield engine
    engine.end()


@pytest.fixture
def picker(replica):
    made = Picker(replica.address)
    yield made
    made.end()


def ask(client, path=CHAT, **body):
    return client.post(path, json={"model": "llama", **body})


def until(condition):
    for _ in range(200):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("it never came")


def test_a_request_goes_where_the_picker_says_with_what_it_was(start, picker, replica):
    proxy = start(told={"pickers": {"llama": [picker.address]}})
    assert ask(proxy.client(), text="x" * 200_000).json()["length"] > 200_000
    assert [len(replica.seen), len(proxy.engines["llama"].seen)] == [1, 0]
    (body,) = picker.bodies
    assert b"x" * 200_000 in body
    assert replica.seen[0][DESTINATION] == replica.address


def test_a_model_without_a_picker_is_as_it_was(start, picker):
    proxy = start(told={"pickers": {"llama": [picker.address]}})
    assert ask(proxy.client(), "/qwen/v1/completions").status_code == 200
    assert len(proxy.engines["qwen"].seen) == 1
    assert not picker.asked


def test_a_client_names_no_replica(start, picker, replica):
    elsewhere = Engine()
    proxy = start(told={"pickers": {"llama": [picker.address]}})
    computes = "x-prefiller-host-port"  # by which a door would have the prompt computed there
    claims = {DESTINATION: elsewhere.address, "x-envoy-attempt-count": "7", "x-rackwright-again": "true"}
    claims[computes] = elsewhere.address
    for path in (CHAT, "/qwen/v1/completions"):
        answer = ask(proxy.client(**claims), path)
        assert answer.status_code == 200
        assert "x-rackwright-again" not in answer.headers
    assert not elsewhere.seen
    assert len(replica.seen) == len(proxy.engines["qwen"].seen) == 1
    assert not {DESTINATION, computes} & picker.asked[0].keys()
    assert computes not in replica.seen[0]
    elsewhere.end()


def test_what_has_no_body_is_asked_for_too(start, picker):
    proxy = start(told={"pickers": {"llama": [picker.address]}})
    assert proxy.client().get("/llama/v1/models").status_code == 200
    assert len(picker.asked) == 1


def test_streams_are_not_held_back(start, picker):
    proxy = start(told={"pickers": {"llama": [picker.address]}})
    with proxy.client().stream("POST", CHAT, json={"stream": 4, "every_s": 0.3}) as answer:
        lines = [(time.monotonic(), line) for line in answer.iter_lines() if line]
    assert [line for _, line in lines] == [f"data: {number}" for number in range(4)]
    assert lines[-1][0] - lines[0][0] > 0.5


@pytest.mark.parametrize("size", [10, 900_000])
def test_without_any_picker_the_least_busy_replica_answers(start, size):
    proxy = start(told={"pickers": {"llama": ["127.0.0.1:1", "127.0.0.1:2"]}})
    answer = ask(proxy.client(), text="x" * size)
    assert (answer.status_code, "x-rackwright-again" in answer.headers) == (200, False)
    assert len(proxy.engines["llama"].seen) == 1
    assert DESTINATION not in proxy.engines["llama"].seen[0]


def test_the_spare_is_asked_when_the_first_is_away_and_nobody_is_refused(start, replica):
    first, spare = Picker(replica.address), Picker(replica.address)
    proxy = start(told={"pickers": {"llama": [first.address, spare.address]}})
    client = proxy.client()
    assert all(ask(client).status_code == 200 for _ in range(5))
    assert (len(first.asked), len(spare.asked)) == (5, 0)
    first.end()
    until(lambda: ask(client).status_code == 200 and spare.asked)
    assert {ask(client).status_code for _ in range(5)} == {200}
    assert len(spare.asked) >= 6
    spare.end()


def test_a_request_that_waited_for_nothing_is_told_when_to_come_again(start, picker, replica):
    picker.names = None
    proxy = start(told={"pickers": {"llama": [picker.address]}})
    answer = ask(proxy.client())
    assert answer.status_code == 429
    assert answer.headers["retry-after"]
    assert answer.json()["error"]["code"] == 429
    assert "wait" in answer.json()["error"]["message"]
    assert not replica.seen
    assert not proxy.engines["llama"].seen
    assert len(picker.asked) == 1


def test_a_replica_that_is_gone_is_not_the_end_of_a_request(start, picker, replica):
    replica.end()
    proxy = start(told={"pickers": {"llama": [picker.address]}})
    assert ask(proxy.client()).status_code == 200
    assert len(proxy.engines["llama"].seen) == 1


@pytest.mark.parametrize("status", [502, 503])
def test_what_a_door_cannot_reach_is_not_the_end_of_a_request(start, picker, replica, status):
    """The replica that was to compute its prompt is gone, or the engine behind the door: another answers by itself."""
    replica.refuses = status
    proxy = start(told={"pickers": {"llama": [picker.address]}})
    assert ask(proxy.client()).status_code == 200
    assert (len(replica.seen), len(proxy.engines["llama"].seen), len(picker.asked)) == (1, 1, 1)
    assert DESTINATION not in proxy.engines["llama"].seen[0]


def test_an_engine_s_own_fault_is_its_own(start, picker, replica):
    """What an engine answers is handed on as it is, and asked for once."""
    proxy = start(told={"pickers": {"llama": [picker.address]}})
    assert ask(proxy.client(), status=500).status_code == 500
    assert (len(replica.seen), len(proxy.engines["llama"].seen), len(picker.asked)) == (1, 0, 1)


def test_pickers_and_what_they_picked_have_figures_of_their_own(start, picker):
    proxy = start(told={"pickers": {"llama": [picker.address]}})
    ask(proxy.client())
    text = httpx.get(f"http://127.0.0.1:{proxy.place.metrics_port}/stats/prometheus").text
    for cluster in ("picked-llama", "picker-llama"):
        assert f'envoy_cluster_upstream_rq_total{{envoy_cluster_name="{cluster}"}} 1' in text
