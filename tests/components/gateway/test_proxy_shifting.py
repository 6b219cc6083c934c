"""Two real proxies: sessions go on from the first one's door to the second's, by their share, and come back."""

import signal
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from loopback import HOST
from waiting import until

from components.gateway.place import TENANT_HEADER
from components.gateway.shifting import Shift, beyond, shifted
from rackwright.rollout.figures import ANSWERS, FAULTS, TO_DOOR
from rackwright.rollout.platform.untouched import DOOR, FAULT, answers
from rackwright.secrets.authority import make, read

CHAT = "/llama/v1/chat/completions"
SESSIONS = [f"session-{number}" for number in range(120)]


@pytest.fixture
def doors(start):
    """The second door, and first ones before it by the share that goes on."""
    second = start(models=("llama", "qwen"))

    def first(percent, models=("llama", "qwen"), served=("llama", "qwen"), **more):
        shift = Shift(f"127.0.0.1:{second.place.https_port}", HOST, percent, tuple(models))
        return start(models=served, told={"shift": shift}, authority=second.folder / "tls.crt", **more)

    return second, first


def went(first, second, sessions=SESSIONS, path=CHAT):
    """Which sessions the second side served, each asked twice."""
    client, model = first.client(), path.split("/")[1]
    found = set()
    for session in [*sessions, *sessions]:
        before = len(second.engines[model].seen)
        answer = client.post(path, json={"model": model}, headers={"x-session-id": session})
        assert answer.status_code == 200, answer.text
        if len(second.engines[model].seen) > before:
            found.add(session)
            assert second.engines[model].paths[-1] == "/v1/chat/completions"
        else:
            assert session not in found, f"{session} changed sides"
    return found


def test_a_session_stays_on_one_side_and_a_growing_share_takes_more_and_gives_none_back(doors):
    second, first = doors
    shares = {percent: went(first(percent), second) for percent in (0, 10, 50, 100)}
    assert shares[0] == set()
    assert shares[10] < shares[50] < shares[100] == set(SESSIONS)
    assert 0.02 < len(shares[10]) / len(SESSIONS) < 0.25
    assert 0.3 < len(shares[50]) / len(SESSIONS) < 0.7


def test_the_key_goes_to_the_other_door_and_to_no_engine(doors):
    second, first = doors
    for percent in (1, 100):
        proxy = first(percent)
        went(proxy, second, SESSIONS[:40])
        for engine in (proxy.engines["llama"], second.engines["llama"]):
            assert all(not {"authorization", "x-api-key"} & set(seen) for seen in engine.seen)
            assert all(seen[TENANT_HEADER] == "chat" for seen in engine.seen)
    answer = first(100).client(None, **{"x-api-key": second.keys["chat"]}).post(CHAT, json={})
    assert answer.status_code == 200
    assert first(100).client(None).post(CHAT, json={}).status_code == 401


def test_a_model_that_only_one_door_serves_stays(doors):
    second, first = doors
    proxy = first(100, models=("llama",), served=("llama", "old"))
    assert proxy.client().post("/old/v1/completions", json={}).status_code == 200
    assert proxy.engines["old"].paths == ["/v1/completions"]
    assert went(proxy, second, SESSIONS[:3]) == set(SESSIONS[:3])


def test_a_client_that_names_no_session_is_one_by_its_address(doors):
    second, first = doors
    proxy = first(50)
    sides = set()
    for _ in range(20):
        before = len(second.engines["llama"].seen)
        assert proxy.client().post(CHAT, json={}).status_code == 200
        sides.add(len(second.engines["llama"].seen) > before)
    assert len(sides) == 1


def test_limits_of_the_first_door_hold_for_what_goes_on(doors, limited):
    _, first = doors
    client = first(100, tenants=limited(requests_per_minute=5)).client()
    assert [client.post(CHAT, json={}).status_code for _ in range(7)] == [200] * 5 + [429] * 2


def test_streams_run_to_their_end_while_the_share_is_taken_back(doors):
    """What is replaced drains: it takes no more, and ends after its last answer."""
    second, first = doors
    before = first(100)

    def stream(client):
        with client.stream("POST", CHAT, json={"stream": 10, "every_s": 0.3}) as answer:
            return sum(1 for line in answer.iter_lines() if line)

    with ThreadPoolExecutor() as threads:
        begun = [threads.submit(stream, before.client()) for _ in range(4)]
        until(lambda: len(second.engines["llama"].seen) == 4)
        after = first(0)
        assert went(after, second, SESSIONS[:5]) == set()
        assert [each.result() for each in begun] == [10] * 4
    before.process.send_signal(signal.SIGTERM)


def test_doors_of_one_authority_trust_each_other(start):
    """Both phases' certificates are signed by the vault's: what cert-manager puts beside the first is enough."""
    authority = read(make("lab"))
    second = start(models=("llama",), signed_by=authority)
    shift = Shift(f"127.0.0.1:{second.place.https_port}", HOST, 100, ("llama",))
    proxy = start(models=("llama",), told={"shift": shift}, signed_by=authority)
    assert proxy.client().post(CHAT, json={}).status_code == 200
    assert len(second.engines["llama"].seen) == 1
    stranger = start(models=("llama",), told={"shift": shift}, signed_by=read(make("lab")))
    assert stranger.client().post(CHAT, json={}).status_code == 503


def test_another_door_whose_certificate_nobody_vouches_for_is_not_spoken_to(doors, start):
    second, _ = doors
    shift = Shift(f"127.0.0.1:{second.place.https_port}", HOST, 100, ("llama",))
    proxy = start(models=("llama",), told={"shift": shift}, authority=start().folder / "tls.crt")
    assert proxy.client().post(CHAT, json={}).status_code == 503
    assert not second.engines["llama"].seen
    assert faults(proxy) > 0


def test_what_the_other_door_answers_is_in_the_figures_that_the_rollout_watches(doors):
    _, first = doors
    proxy = first(100)
    for status in (200, 200, 500):
        assert proxy.client().post(CHAT, json={"status": status}).status_code == status
    assert faults(proxy) == 1
    assert figure(proxy, "envoy_cluster_upstream_rq_completed", TO_DOOR) == 3


def test_what_clients_are_answered_is_in_the_figures_that_show_whether_they_are_worse_off(doors):
    _, first = doors
    proxy = first(0)
    for status in (200, 500):
        proxy.client().post(CHAT, json={"status": status})
    text = httpx.get(f"http://127.0.0.1:{proxy.place.metrics_port}/stats/prometheus").text
    told = [line for line in text.splitlines() if line.startswith("envoy_http_downstream_rq_xx{") and DOOR in line]
    assert answers("5m").startswith("sum(increase(envoy_http_downstream_rq_xx{")
    assert sorted(float(line.rsplit(" ", 1)[1]) for line in told)[-2:] == [1, 1]
    assert [line.rsplit(" ", 1)[1] for line in told if FAULT[1:] in line] == ["1"]


def faults(proxy):
    return figure(proxy, "envoy_cluster_upstream_rq_xx", TO_DOOR, 'envoy_response_code_class="5"')


def figure(proxy, metric, *labels) -> float:
    """One of the proxy's statistics, by labels that the rollout's expressions name."""
    assert any(metric in expression for expression in (ANSWERS, FAULTS))
    text = httpx.get(f"http://127.0.0.1:{proxy.place.metrics_port}/stats/prometheus").text
    lines = [line for line in text.splitlines() if line.startswith(f"{metric}{{") and all(x in line for x in labels)]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines)


def test_a_share_of_nothing_is_the_configuration_without_any():
    routes = [{"name": "chat", "route": {"cluster": "tenant-chat"}}]
    nothing = Shift("10.0.0.1:443", HOST, 0, ("llama",))
    assert shifted(routes, nothing) == shifted(routes, None) == routes
    assert beyond(nothing, None) == beyond(None, None) == []
