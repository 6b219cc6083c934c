import itertools
import json
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from stand_in_engine import Engine
from stand_in_names import Names
from waiting import PATIENCE_S, until

from components.gateway.objects import drain
from components.gateway.place import TENANT_HEADER

CHAT = "/llama/v1/chat/completions"


def ask(client, path=CHAT, **body):
    return client.post(path, json={"model": "llama", **body})


def test_without_a_key_nobody_comes_in(start):
    proxy = start()
    for client in (
        proxy.client(None),
        proxy.client(None, authorization="Bearer wrong"),
        proxy.client(None, **{TENANT_HEADER: "chat"}),
    ):
        answer = ask(client)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json()["error"]["code"] == 401
    assert not proxy.engines["llama"].seen


@pytest.mark.parametrize("header", ["authorization", "x-api-key"])
def test_a_key_leads_to_its_tenant_and_goes_no_further(start, header):
    proxy = start()
    key = proxy.keys["chat"]
    answer = ask(proxy.client(None, **{header: f"Bearer {key}" if header == "authorization" else key}))
    assert answer.status_code == 200
    assert answer.json()["path"] == "/v1/chat/completions"
    (seen,) = proxy.engines["llama"].seen
    assert seen[TENANT_HEADER] == "chat"
    assert not {"authorization", "x-api-key"} & set(seen)
    assert key not in proxy.log.read_text()


def test_a_client_steers_nothing(start):
    proxy = start()
    steering = {
        TENANT_HEADER: "batch",
        "X-Gateway-Destination-Endpoint": "10.0.0.1:80",
        "x-llm-d-inference-objective": "high",
        "X-Vllm-Priority": "-100",
        "x-envoy-upstream-rq-timeout-ms": "1",
        "x-prefiller-host-port": "10.0.0.1:80",
    }
    assert ask(proxy.client(**steering), after_s=0.2).status_code == 200
    (seen,) = proxy.engines["llama"].seen
    assert seen[TENANT_HEADER] == "chat"
    assert all(name.lower() == TENANT_HEADER or name.lower() not in seen for name in steering)


def test_each_model_has_its_prefix_and_nothing_but_its_api_is_reached(start):
    proxy = start()
    client = proxy.client()
    assert ask(client, "/qwen/v1/completions").status_code == 200
    assert proxy.engines["qwen"].paths == ["/v1/completions"]
    for path in (
        "/llama/metrics",
        "/llama/v1/../metrics",
        "/llama/v1/%2e%2e/metrics",
        "/metrics",
        "/v1/models",
        "/gone/v1/models",
    ):
        request = client.build_request("GET", proxy.url)
        request.url = httpx.URL(proxy.url).copy_with(raw_path=path.encode())
        assert client.send(request).status_code in {400, 404}, path


def test_a_single_model_needs_no_prefix(start):
    proxy = start(models=("llama",))
    assert ask(proxy.client(), "/v1/chat/completions").status_code == 200
    assert ask(proxy.client(), "/llama/v1/chat/completions").status_code == 200


def test_streams_are_not_held_back(start):
    proxy = start()
    arrived = []
    with proxy.client().stream("POST", CHAT, json={"stream": 5, "every_s": 0.3}) as answer:
        for line in answer.iter_lines():
            if line:
                arrived.append((time.monotonic(), line))
    assert [line for _, line in arrived] == [f"data: {number}" for number in range(5)]
    gaps = [later - earlier for (earlier, _), (later, _) in itertools.pairwise(arrived)]
    assert min(gaps) > 0.1


def test_a_body_over_the_limit_is_refused(start):
    proxy = start()
    assert ask(proxy.client(), text="x" * 900_000).status_code == 200
    answer = ask(proxy.client(), text="x" * 1_100_000)
    assert answer.status_code == 413
    assert answer.json()["error"]["code"] == 413


def test_over_its_rate_a_tenant_is_told_when_to_come_back_and_others_are_not_held_up(start, limited):
    proxy = start(tenants=limited(requests_per_minute=5))
    client = proxy.client()
    answers = [ask(client) for _ in range(8)]
    assert [answer.status_code for answer in answers[:5]] == [200] * 5
    refused = answers[-1]
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "12"
    assert "minute" in refused.json()["error"]["message"]
    assert ask(proxy.client("batch")).status_code == 200


def test_over_its_requests_at_once_a_tenant_is_refused_over_all_models(start, limited):
    proxy = start(tenants=limited(concurrent_requests=2))
    for engine in proxy.engines.values():
        engine.gate.clear()
    with ThreadPoolExecutor() as threads:
        held = [threads.submit(ask, proxy.client(), path) for path in (CHAT, "/qwen/v1/completions")]
        until(lambda: all(engine.seen for engine in proxy.engines.values()))
        refused = ask(proxy.client())
        assert refused.status_code == 429
        assert refused.headers["retry-after"]
        assert "at once" in refused.json()["error"]["message"]
        held.append(threads.submit(ask, proxy.client("batch"), CHAT))
        until(lambda: len(proxy.engines["llama"].seen) == 2)  # another tenant is let in
        for engine in proxy.engines.values():
            engine.gate.set()
        assert [each.result().status_code for each in held] == [200] * 3
    assert ask(proxy.client()).status_code == 200


def test_limits_are_shared_among_the_proxies(start, limited):
    proxy = start(tenants=limited(requests_per_minute=9), replicas=2)
    client = proxy.client()
    assert [ask(client).status_code for _ in range(6)] == [200] * 5 + [429]


def test_a_long_silence_is_not_cut_and_the_limit_is(start):
    proxy = start(request_timeout_s=10)
    clients = (proxy.client(), proxy.client())
    with ThreadPoolExecutor() as threads:
        statuses = threads.map(lambda client, after_s: ask(client, after_s=after_s).status_code, clients, (8, 11))
    assert list(statuses) == [200, 504]


def test_a_dead_engine_is_said_at_once(start):
    proxy = start()
    proxy.engines["llama"].end()
    for _ in range(20):
        began = time.monotonic()
        answer = ask(proxy.client())
        assert time.monotonic() - began < 5
        if answer.status_code == 503 and "no healthy" in answer.text:
            break
        time.sleep(0.5)
    else:
        pytest.fail("a dead engine was never left out")
    assert ask(proxy.client(), "/qwen/v1/completions").status_code == 200


def test_an_engine_that_leaves_its_name_finishes_and_gets_nothing_more(start):
    """A pod that is to end is out of its Service at once, and says for minutes that it is well: it drains."""
    staying = Engine()
    leaving = Engine("127.0.0.2", staying.port)
    names = Names("127.0.0.1", "127.0.0.2")
    proxy = start(models=(), others={"llama": f"llama.models.svc.cluster.local:{staying.port}"}, names=names)

    def stream(client) -> int:
        with client.stream("POST", CHAT, json={"stream": 12, "every_s": 0.5}) as answer:
            return sum(1 for line in answer.iter_lines() if line)

    with ThreadPoolExecutor() as threads:
        begun = [threads.submit(stream, proxy.client()) for _ in range(6)]
        until(lambda: len(staying.seen) + len(leaving.seen) == 6)
        assert staying.seen
        assert leaving.seen
        names.addresses = ("127.0.0.1",)
        asked = names.asked
        until(lambda: names.asked > asked + 1)  # the proxy asks every 2 s, and the second answer comes after the first
        before = len(leaving.seen)
        assert all(ask(proxy.client()).status_code == 200 for _ in range(10))
        assert len(leaving.seen) == before
        assert [each.result() for each in begun] == [12] * 6
    for each in (staying, leaving, names):
        each.end()


def test_the_door_opens_although_no_engine_is_there_yet(start):
    proxy = start(others={"gone": "127.0.0.1:1", "unknown": "no-such-name.invalid:8000"})
    assert ask(proxy.client()).status_code == 200
    for model in ("gone", "unknown"):
        assert ask(proxy.client(), f"/{model}/v1/completions").status_code == 503


def test_metrics_and_readiness_are_shown_and_the_rest_of_the_admin_interface_is_not(start):
    proxy = start()
    ask(proxy.client())
    base = f"http://127.0.0.1:{proxy.place.metrics_port}"
    text = httpx.get(f"{base}/stats/prometheus").text
    assert 'envoy_cluster_upstream_rq_total{envoy_cluster_name="tenant-chat"} 1' in text
    assert 'envoy_cluster_name="model-llama"' in text
    assert not any(key in text for key in proxy.keys.values())
    for path in ("/config_dump", "/", "/stats", "/quitquitquit"):
        assert httpx.get(f"{base}{path}").status_code == 404


def test_the_log_says_who_asked_for_what_and_no_more(start):
    proxy = start()
    ask(proxy.client(), "/llama/v1/chat/completions?secret=in-the-query", text="a body")
    ask(proxy.client(None))
    time.sleep(1)
    proxy.process.terminate()
    proxy.process.wait(PATIENCE_S)
    log = proxy.log.read_text()
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    assert [(line["tenant"], line["path"], line["status"]) for line in lines] == [
        ("chat", "/llama/v1/chat/completions", 200),
        ("none", "/llama/v1/chat/completions", 401),
    ]
    assert not any(word in log for word in (*proxy.keys.values(), "in-the-query", "a body"))


def test_a_renewed_certificate_is_taken_without_a_restart(start, renew):
    proxy = start()
    assert ask(proxy.client()).status_code == 200
    renew(proxy)
    for _ in range(50):
        try:
            assert ask(proxy.client()).status_code == 200  # the client trusts the new certificate alone
            break
        except httpx.ConnectError:
            time.sleep(0.2)
    else:
        pytest.fail("the old certificate is still shown")


def test_a_drain_lets_every_stream_finish(start):
    proxy = start()
    lines: list[str] = []

    def read():
        with proxy.client().stream("POST", CHAT, json={"stream": 8, "every_s": 0.5}) as answer:
            lines.extend(line for line in answer.iter_lines() if line)

    reader = threading.Thread(target=read)
    reader.start()
    until(lambda: proxy.engines["llama"].seen)
    # What the kubelet does: the hook, then the order to end.
    began = time.monotonic()
    subprocess.run(drain(proxy.place, 0, 30), check=True, timeout=PATIENCE_S)
    took = time.monotonic() - began
    assert 2 < took < 28  # it waited for the stream, and no longer
    assert ask(proxy.client()).headers["connection"] == "close"  # clients are told to go elsewhere
    proxy.process.send_signal(signal.SIGTERM)
    assert proxy.process.wait(PATIENCE_S) == 0
    reader.join()
    assert lines == [f"data: {number}" for number in range(8)]
