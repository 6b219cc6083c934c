"""Tokens of each tenant, read by the real Envoy from answers of every form, and refused when they are used up."""

import contextlib
import os
import subprocess
import warnings

import httpx
import pytest
from loopback import free_port
from stand_in_counts import RESET_S, Counts
from stand_in_engine import Engine
from stand_in_picker import Picker
from waiting import until

from components.gateway import quotas
from rackwright.observe.sources import SOURCES
from rackwright.site.tenants import Limits, Tenant

CHAT = "/llama/v1/chat/completions"
LIMIT = 1000
PROGRAMS = ("RACKWRIGHT_RATELIMIT", "RACKWRIGHT_VALKEY")  # paths of ratelimit, and of valkey-server or redis-server


def usage(prompt, answer):
    return {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}


def chunks(count, prompt=7):
    """A stream of vLLM's with --enable-force-include-usage: each chunk says how many there were so far."""
    return [{"choices": [{"delta": {"content": "x"}}], "usage": usage(prompt, each + 1)} for each in range(count)]


OTHERS = {"input_tokens": 30, "output_tokens": 12}
ANSWERS = {
    "chat": ({"choices": [], "usage": usage(30, 12)}, 42),
    "a long answer": ({"choices": ["x" * 500_000], "usage": usage(30, 12)}, 42),
    "messages": ({"content": [], "usage": OTHERS}, 42),
    "responses": ({"output": [], "usage": OTHERS | {"total_tokens": 42}}, 42),
    "a stream": (chunks(12, prompt=30), 42),
    "a stream that says it once, at its end": (
        [{"choices": [1], "usage": None}, {"choices": [], "usage": usage(30, 12)}],
        42,
    ),
    "a stream of messages": (
        [
            {"type": "message_start", "message": {"usage": {"input_tokens": 30, "output_tokens": 0}}},
            {"type": "message_delta", "usage": OTHERS},
        ],
        42,
    ),
    "a stream of responses": (
        [{"type": "response.completed", "response": {"text": "x" * 100_000, "usage": OTHERS}}],
        42,
    ),
    "embeddings and the like": ({"data": [], "usage": {"prompt_tokens": 42, "total_tokens": 42}}, 42),
    "nothing": ({"data": []}, 0),
}


@pytest.fixture
def tenants():
    return (
        Tenant(name="chat", key="chat_key", limits=Limits(tokens_per_minute=LIMIT)),
        Tenant(name="batch", key="batch_key"),
    )


@pytest.fixture
def counts():
    service = Counts({"chat": LIMIT})
    yield service
    service.end()


@pytest.fixture
def proxy(start, tenants, counts):
    return start(tenants=tenants, told={"counts": counts.address})


@pytest.mark.parametrize("form", ANSWERS)
def test_what_an_answer_says_is_charged(proxy, counts, form):
    says, used = ANSWERS[form]
    client = proxy.client()
    for _ in range(2):
        answer = client.post(CHAT, json={"says": says})
        assert answer.status_code == 200
    until(lambda: counts.used["chat"] >= 2 * used)
    assert counts.used == {"chat": 2 * used}
    assert "Invalid hits_addend" not in proxy.log.read_text()


def test_who_has_used_them_up_is_refused_until_the_minute_is_over_and_others_are_not(proxy, counts):
    client = proxy.client()
    assert client.post(CHAT, json={"says": {"usage": usage(1, LIMIT)}}).status_code == 200
    until(lambda: counts.used["chat"] > LIMIT)
    before = len(proxy.engines["llama"].seen)
    refused = client.post(CHAT, json={"says": {}})
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == str(RESET_S)
    assert refused.json()["error"] == {
        "message": "too many tokens in a minute for this tenant", "type": "gateway", "code": 429,
    }  # fmt: skip
    assert len(proxy.engines["llama"].seen) == before
    assert proxy.client("batch").post(CHAT, json={"says": {"usage": usage(1, LIMIT)}}).status_code == 200
    assert counts.used == {"chat": LIMIT + 1}


def test_a_stream_that_the_client_breaks_off_is_charged_as_far_as_it_went(proxy, counts):
    with proxy.client().stream("POST", CHAT, json={"says": chunks(500), "every_s": 0.02}) as answer:
        lines = (line for line in answer.iter_lines() if line)
        for _ in range(20):
            next(lines)
    until(lambda: counts.used["chat"])
    assert 7 + 20 <= counts.used["chat"] < 7 + 400


def test_a_request_that_is_refused_for_its_rate_is_charged_nothing(start, counts):
    tenants = (
        Tenant(name="chat", key="chat_key", limits=Limits(tokens_per_minute=LIMIT, requests_per_minute=1)),
        Tenant(name="batch", key="batch_key"),
    )
    proxy = start(tenants=tenants, told={"counts": counts.address})
    client = proxy.client()
    answers = [client.post(CHAT, json={"says": {"usage": usage(5, 5)}}) for _ in range(3)]
    assert [each.status_code for each in answers] == [200, 429, 429]
    assert "requests in a minute" in answers[-1].json()["error"]["message"]
    until(lambda: counts.used["chat"] == 10)


def test_while_nobody_counts_everybody_is_let_in(start, tenants):
    proxy = start(tenants=tenants, told={"counts": f"127.0.0.1:{free_port()}"})
    assert proxy.client().post(CHAT, json={"says": {"usage": usage(1, 1)}}).status_code == 200
    text = httpx.get(f"http://127.0.0.1:{proxy.place.metrics_port}/stats/prometheus").text
    named = {
        line.partition("{")[0] for line in text.splitlines() if not line.startswith("#") and not line.endswith(" 0")
    }
    assert {"envoy_cluster_ratelimit_error", SOURCES["doors"].present} <= named  # what the alerts look for


def test_where_nobody_is_limited_no_answer_is_read(start, counts):
    """The filters that read are there for tenants with a limit; the service is not asked about the others."""
    proxy = start(told={"counts": counts.address})
    assert proxy.client().post(CHAT, json={"says": {"usage": usage(1, 1)}}).status_code == 200
    assert counts.used == {"chat": 0}


def test_what_a_picked_replica_says_is_charged_as_well(start, tenants, counts):
    replica = Engine()
    picker = Picker(replica.address)
    proxy = start(tenants=tenants, told={"counts": counts.address, "pickers": {"llama": [picker.address]}})
    with proxy.client().stream("POST", CHAT, json={"says": chunks(12, prompt=30)}) as answer:
        assert sum(1 for line in answer.iter_lines() if line) == 12
    until(lambda: counts.used["chat"])
    assert counts.used == {"chat": 42}
    assert len(replica.seen) == 1
    for each in (picker, replica):
        each.end()


@contextlib.contextmanager
def started(folder, limits):
    """The real service with the real store, as the pod starts them, in folders of this test."""
    socket, port, health = folder / "socket", free_port(), free_port()
    (folder / "config").mkdir()
    (folder / "config" / "tokens.yaml").write_text(limits)
    said = quotas.environment() | {
        "REDIS_URL": str(socket), "RUNTIME_ROOT": str(folder), "GRPC_PORT": str(port), "PORT": str(health),
        "DEBUG_PORT": str(free_port()), "PROMETHEUS_ADDR": f"127.0.0.1:{free_port()}",
    }  # fmt: skip
    service, store = (os.environ[each] for each in PROGRAMS)
    with (folder / "log").open("w") as log:
        running = [subprocess.Popen([store, *quotas.store_command(str(socket))[1:]], stdout=log, stderr=log)]
        until(socket.exists)
        running.append(subprocess.Popen([service], env={"HOME": str(folder)} | said, stdout=log, stderr=log))
    try:
        until(lambda: is_well(f"http://127.0.0.1:{health}/healthcheck"))
        yield f"127.0.0.1:{port}"
    finally:
        for each in reversed(running):
            each.kill()
            each.wait()


def is_well(url):
    with contextlib.suppress(httpx.TransportError):
        return httpx.get(url).status_code == 200


def test_the_real_service_counts_for_two_proxies(start, tenants, tmp_path):
    if absent := [each for each in PROGRAMS if each not in os.environ]:
        why = f"the real rate limit service was not run: {' and '.join(absent)} name no program"
        warnings.warn(why, stacklevel=1)
        pytest.skip(why)
    with started(tmp_path, quotas.limits(tenants)) as address:
        told = {"counts": address}
        clients = [start(tenants=tenants, told=told).client() for _ in range(2)]
        spent = {"says": {"usage": usage(300, 300)}}
        # Two answers are over the limit of a thousand; a new minute may begin in between, and then it takes more.
        refused = until(
            lambda: next((a for a in (each.post(CHAT, json=spent) for each in clients) if a.status_code != 200), None)
        )
        assert refused.status_code == 429
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        assert "tokens" in refused.json()["error"]["message"]
