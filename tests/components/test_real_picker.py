"""llm-d's own picker and simulators behind the real Envoy, as the components tell them; where they are to be had."""

import asyncio
import sys
import time
import warnings
from pathlib import Path

import httpx
import pytest
from waiting import until

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from cluster_rack import ClusterRack  # noqa: E402 - beside the tests
from simulated_rack import MODEL, ProgramMissingError, Rack, key_of, programs  # noqa: E402

from rackwright.site.priorities import of_router  # noqa: E402 - after that path
from rackwright.site.routing import Routing  # noqa: E402

CALL = {"model": MODEL.name, "prompt": "one two six ten " * 200, "max_tokens": 5, "ignore_eos": True}


@pytest.fixture(scope="module", autouse=True)
def found() -> None:
    """The programs are there; else everything here is left out, and says so."""
    try:
        programs()
    except ProgramMissingError as missing:
        warnings.warn(str(missing), stacklevel=1)
        pytest.skip(str(missing))


@pytest.fixture
def rack(tmp_path):
    with Rack(tmp_path) as running:
        yield running


def caller(rack, tenant="interactive"):
    headers = {"authorization": f"Bearer {key_of(tenant)}"}
    url = f"https://127.0.0.1:{rack.place.https_port}"
    return httpx.Client(base_url=url, verify=str(rack.folder / "tls.crt"), headers=headers, timeout=60)


def ask(client, **changes):
    return client.post(f"/{MODEL.name}/v1/completions", json=CALL | changes)


def figure(rack, place, name):
    """The sum of a figure of a picker's, over its labels."""
    lines = rack.figures(rack.picker_ports[place][2]).splitlines()
    return sum(float(line.rsplit(maxsplit=1)[1]) for line in lines if line.startswith((f"{name}{{", f"{name} ")))


@pytest.mark.parametrize("architecture", ["Qwen/Qwen3-32B", "Qwen/Qwen3-Next-80B-A3B"])
def test_the_picker_takes_its_configuration(tmp_path, monkeypatch, architecture):
    """It ends at start where a plugin or one of its parameters is not known."""
    monkeypatch.setattr("simulated_rack.MODEL", MODEL.model_copy(update={"architecture": architecture}))
    alone = Rack(tmp_path, replicas=0)
    with alone:
        assert all(picker.poll() is None for picker in alone.pickers)


def test_requests_go_through_the_first_picker_and_sessions_stay_where_their_prefix_is(rack):
    """A step whose context grows by less than it was finds more than half of itself where the last one ran."""
    prompts = [CALL["prompt"] * 2 + "and more of it " * 100 * n for n in range(5)]
    with caller(rack) as client:
        answers = [ask(client, prompt=each) for each in prompts]
    assert [answer.status_code for answer in answers] == [200] * 5
    assert len({answer.headers["x-inference-port"] for answer in answers}) == 1
    assert figure(rack, 0, "llm_d_epp_request_total") == 5
    assert figure(rack, 1, "llm_d_epp_request_total") == 0


def test_a_replica_that_died_is_left_out_within_a_second_and_nobody_is_refused(rack):
    with caller(rack) as client:
        port = int(ask(client).headers["x-inference-port"])
        rack.simulated[port].kill()
        rack.simulated[port].wait()
        began = time.monotonic()
        while time.monotonic() - began < 3:
            assert ask(client).status_code == 200
        again = figure(rack, 0, "llm_d_epp_request_total")
        assert [ask(client).status_code for _ in range(5)] == [200] * 5
    # Sent on once more by the proxy, it would not have come from a picker: here all five did.
    assert figure(rack, 0, "llm_d_epp_request_total") == again + 5
    errors = httpx.get(f"http://127.0.0.1:{rack.place.metrics_port}/stats/prometheus").text
    (line,) = [
        each
        for each in errors.splitlines()
        if each.startswith('envoy_cluster_upstream_rq_total{envoy_cluster_name="model-routed"}')
    ]
    assert float(line.rsplit(maxsplit=1)[1]) < 60  # those of the first second


def test_what_a_replica_works_on_is_counted_until_its_answer_ends(rack):
    """It is by this that the picker knows who has least to do, and when all are busy."""

    def running() -> float:
        return figure(rack, 0, "llm_d_epp_inflight_requests")

    way, body = f"/{MODEL.name}/v1/completions", CALL | {"max_tokens": 100, "stream": True}
    with caller(rack) as client, client.stream("POST", way, json=body) as answer:
        lines = answer.iter_lines()
        next(lines)
        assert running() == 1
        for _ in lines:
            pass
    until(lambda: running() == 0)


def test_a_picker_that_ends_refuses_nobody_and_the_spare_takes_over(rack):
    """What runs through it is cut; whoever comes next is served."""
    with caller(rack) as client:
        assert ask(client).status_code == 200
        rack.pickers[0].kill()
        rack.pickers[0].wait()
        end = time.monotonic() + 3
        while time.monotonic() < end:
            assert ask(client).status_code == 200
        until(lambda: ask(client).status_code == 200 and figure(rack, 1, "llm_d_epp_request_total") > 0)


def test_a_queue_that_is_full_refuses_and_says_when_to_come_again(tmp_path):
    async def run(rack) -> list[httpx.Response]:
        async with rack.client() as client:
            body = CALL | {"max_tokens": 400}
            calls = []
            for _ in range(40):
                calls.append(asyncio.create_task(client.post(f"/{MODEL.name}/v1/completions", json=body)))
                await asyncio.sleep(0.05)  # in one moment, too many were let in: docs/routing.md
            return await asyncio.gather(*calls)

    with Rack(tmp_path, replicas=1, routing=Routing(queue=4, queue_s=30)) as small:
        answers = asyncio.run(run(small))
    refused = [answer for answer in answers if answer.status_code == 429]
    assert {answer.status_code for answer in answers} == {200, 429}
    assert len(refused) >= 40 - 12 - 4 - 4  # agents have twelve of the places, and four wait
    assert all(answer.headers["retry-after"] for answer in refused)
    assert all(answer.json()["error"]["code"] == 429 for answer in refused)


def test_pickers_of_a_cluster_find_replicas_and_let_people_in_before_batch(tmp_path, control_plane):
    """With the component's own rights; batch takes its share of the places and waits, people find one."""
    body = CALL | {"max_tokens": 400}
    way = f"/{MODEL.name}/v1/completions"

    async def run(rack):
        async with rack.client("batch") as behind, rack.client("interactive") as before:
            while not counted(rack, "request_total", "batch"):  # until then it has read no objectives
                await behind.post(way, json=CALL)
            calls = [asyncio.create_task(behind.post(way, json=body)) for _ in range(40)]
            await asyncio.to_thread(until, lambda: waiting(rack, "batch") >= 20)
            people = [await before.post(way, json=CALL) for _ in range(3)]
            left = waiting(rack, "batch")
            return people, left, await asyncio.gather(*calls)

    def counted(rack, name, priority):
        lines = rack.figures(rack.picker_ports[0][2]).splitlines()
        wanted = (f"llm_d_epp_{name}{{", f'priority="{of_router(priority)}"')
        return sum(float(line.rsplit(maxsplit=1)[1]) for line in lines if all(each in line for each in wanted))

    def waiting(rack, priority):
        return counted(rack, "flow_control_queue_size", priority)

    with ClusterRack(tmp_path, replicas=1, cluster=control_plane) as small:
        people, left, calls = asyncio.run(run(small))
    assert [answer.status_code for answer in people] == [200] * 3
    assert left > 0  # who came later was answered before them
    assert {answer.status_code for answer in calls} == {200}
