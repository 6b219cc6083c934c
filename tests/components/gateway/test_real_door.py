"""The door of llm-d's release between two stand-ins for engines: what reaches which of them."""

import os
import subprocess
import warnings
from pathlib import Path

import httpx
import pytest
from loopback import free_port
from stand_in_engine import Engine

from components.vllm.halves import door_arguments

VARIABLE = "RACKWRIGHT_DOOR"
CHAT = "/v1/chat/completions"


@pytest.fixture
def engines():
    made = Engine(), Engine()
    yield made
    for engine in made:
        engine.end()


@pytest.fixture
def door(engines):
    """Its address; before the second engine, as the pod starts it."""
    program = os.environ.get(VARIABLE, "")
    if not program or not Path(program).is_file():
        why = f"{VARIABLE} names no program: the real door was not run"
        warnings.warn(why, stacklevel=1)
        pytest.skip(why)
    port = free_port()
    process = subprocess.Popen([program, *door_arguments(port, engines[1].port)], stdout=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    with httpx.Client(transport=httpx.HTTPTransport(retries=8)) as client:
        assert client.get(f"{address}/health").status_code == 200
    yield address
    process.kill()
    process.wait()


def test_a_priority_reaches_both_halves(engines, door):
    computing, answering = engines
    headers = {"x-prefiller-host-port": computing.address, "x-vllm-priority": "-10"}
    assert httpx.post(door + CHAT, json={"model": "llama", "max_tokens": 50}, headers=headers).status_code == 200
    (first,), (second,) = computing.seen, answering.seen
    assert first["x-vllm-priority"] == second["x-vllm-priority"] == "-10"
    assert first["x-request-id"] == second["x-request-id"]
    assert "x-prefiller-host-port" not in first.keys() | second.keys()


def test_who_is_named_by_nobody_is_not_asked(engines, door):
    computing, answering = engines
    assert httpx.post(door + CHAT, json={"model": "llama"}).status_code == 200
    assert (len(computing.seen), len(answering.seen)) == (0, 1)


def test_who_cannot_be_reached_is_told_so(engines, door):
    """By what the gateway sends such a request once more for."""
    computing, answering = engines
    computing.end()
    headers = {"x-prefiller-host-port": computing.address}
    assert httpx.post(door + CHAT, json={"model": "llama"}, headers=headers).status_code == 502
    answering.end()
    assert httpx.post(door + CHAT, json={"model": "llama"}).status_code == 503
    # Its own word is not its engine's: the gateway looks at the second.
    assert httpx.get(f"{door}/health").status_code == 200
    assert httpx.get(f"{door}/v1/models").status_code == 503


def test_figures_are_those_of_the_engine_behind(door):
    assert httpx.get(f"{door}/metrics").json() == {"path": "/metrics"}
    assert httpx.get(f"{door}/v1/models").json() == {"path": "/v1/models"}
