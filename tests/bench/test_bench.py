"""The load test against a stand-in: a small server of our own that speaks like an engine and computes nothing."""

import asyncio
import json
from contextlib import asynccontextmanager
from itertools import islice, pairwise

import pytest

from rackwright.bench.client import Endpoint, Timed
from rackwright.bench.load import Load, Run, lay
from rackwright.bench.result import load as read
from rackwright.bench.result import of_baseline, percentiles, result, save, text
from rackwright.bench.traces import sessions
from rackwright.errors import Refusal
from rackwright.site.workload import Workload

SMALL = Workload(users=1, prompt_tokens=40, output_tokens=4, tool_s=0, growth_tokens=10, calls_per_action=4)


class StandIn:
    """Answers of so many chunks; what it was asked is kept."""

    def __init__(self, status=200, break_after=None, usage=True):
        self.status, self.break_after, self.usage = status, break_after, usage
        self.asked = []
        self.at_once = self.most = 0

    async def answer(self, reader, writer):
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = int(
                    next(line for line in head.lower().split(b"\r\n") if b"content-length" in line).split(b":")[1]
                )
                body = json.loads(await reader.readexactly(length))
                self.asked.append((head.decode(), body))
                self.at_once += 1
                self.most = max(self.most, self.at_once)
                await self.stream(writer, body)
                self.at_once -= 1
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def stream(self, writer, body):
        writer.write(f"HTTP/1.1 {self.status} X\r\ntransfer-encoding: chunked\r\n\r\n".encode())
        count = body["max_tokens"]
        events = [{"choices": [{"delta": {"role": "assistant", "content": ""}}]}]
        events += [{"choices": [{"delta": {"content": "word"}}]} for _ in range(count)]
        if self.usage:
            used = {"prompt_tokens": 100, "completion_tokens": count, "prompt_tokens_details": {"cached_tokens": 60}}
            events.append({"choices": [], "usage": used})
        for number, event in enumerate(events):
            if self.break_after is not None and number > self.break_after:
                writer.close()
                return
            await self.chunk(writer, f"data: {json.dumps(event)}\n\n")
        await self.chunk(writer, "data: [DONE]\n\n")
        await self.chunk(writer, "")

    async def chunk(self, writer, words):
        writer.write(f"{len(words):x}\r\n{words}\r\n".encode())
        await writer.drain()


@asynccontextmanager
async def served(stand_in):
    server = await asyncio.start_server(stand_in.answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


def run(stand_in, wanted, trace="chat", key=None):
    async def whole():
        async with served(stand_in) as url:
            endpoint = Endpoint(url, "m", key, most_at_once=50, timeout_s=20)
            return await lay(endpoint, wanted, sessions(trace, SMALL), lambda _: None)

    return asyncio.run(whole())


def figures(done, seconds=1.0, **rest):
    return result(done, seconds, model="m", endpoint="here", trace="chat", **rest)


def test_a_closed_loop_keeps_so_many_sessions_at_work_and_ends_at_its_calls():
    stand_in = StandIn()
    done = run(stand_in, Load("closed", sessions=3, seconds=30, most_calls=40), "agent", key="sesame")
    assert 40 <= len(done.calls) <= 43
    assert stand_in.most <= 3
    head, body = stand_in.asked[0]
    assert head.startswith("POST /v1/chat/completions")
    assert "bearer sesame" in head.lower()
    assert body["stream"] is True
    found = figures(done)
    assert found.calls == len(done.calls)
    assert found.failed == {}
    assert found.hit_rate == pytest.approx(0.6)
    assert found.ttft_ms.p50 <= found.e2e_ms.p50
    assert found.action_ms is not None


def test_an_open_loop_begins_sessions_whether_or_not_others_ended():
    done = run(StandIn(), Load("open", rate=500, seconds=30, most_calls=30, most_at_once=5), "agent")
    assert len(done.calls) >= 30
    assert done.held_back >= 0


def test_time_ends_it_too():
    done = run(StandIn(), Load("closed", sessions=2, seconds=0.3, most_calls=10**6), "agent")
    assert done.calls


@pytest.mark.parametrize(
    ("stand_in", "error"),
    [(StandIn(status=503), "HTTP 503"), (StandIn(break_after=2), "RemoteProtocolError")],
    ids=["refuses", "breaks off"],
)
def test_failures_are_counted_by_what_they_were(stand_in, error):
    done = run(stand_in, Load("closed", sessions=1, seconds=30, most_calls=2))
    ((told, count),) = figures(done).failed.items()
    assert told.startswith(error)
    assert count == len(done.calls)
    assert f"times {error}" in text(figures(done))


def test_nobody_there_is_a_failure_and_no_traceback():
    async def alone():
        endpoint = Endpoint("http://127.0.0.1:9/v1", "m", None, most_at_once=1, timeout_s=5)
        return await lay(endpoint, Load("closed", seconds=20, most_calls=2), sessions("chat", SMALL), lambda _: None)

    assert all(error.startswith("ConnectError") for error in figures(asyncio.run(alone())).failed)


def test_without_usage_chunks_are_counted():
    done = run(StandIn(usage=False), Load("closed", seconds=30, most_calls=2))
    assert all(call.output_tokens > 0 for call in done.calls)
    assert figures(done).hit_rate is None


def test_sessions_are_the_same_for_a_seed_and_share_no_beginning():
    first, again = ([next(each) for each in islice(sessions("chat", SMALL, seed=1), 5)] for _ in range(2))
    assert first == again
    assert len({each.calls[0].prompt.split(".")[0] for each in first}) == 5


def test_an_agent_s_context_grows_and_begins_as_before():
    session = next(
        each for each in (list(session) for session in islice(sessions("agent", SMALL), 20)) if len(each) > 2
    )
    prompts = [each.calls[0].prompt for each in session]
    assert all(later.startswith(earlier) for earlier, later in pairwise(prompts))
    wide = SMALL.model_copy(update={"fan_out": 3.0, "calls_per_action": 9.0})
    rounds = [each for session in islice(sessions("agent", wide), 10) for each in session]
    assert max(len(each.calls) for each in rounds) == 3


def test_the_mean_of_an_agent_s_calls_is_the_workload_s():
    wanted = SMALL.model_copy(update={"calls_per_action": 8.0})
    counts = [sum(len(each.calls) for each in session) for session in islice(sessions("agent", wanted), 2000)]
    assert sum(counts) / len(counts) == pytest.approx(8, rel=0.1)


def test_percentiles_are_of_what_was_seen():
    found = percentiles([step / 1e3 for step in range(1, 101)])
    assert (found.p50, found.p95, found.p99) == (51, 96, 100)
    assert percentiles([]) is None
    assert percentiles([None]) is None


def test_a_first_token_that_comes_ever_later_is_saturation():
    later = [Timed(step, 0.1 + step * 0.01, 1.0 + step * 0.01, 10, 0, 10) for step in range(60)]
    level = [Timed(step, 0.1 + 0.01 * (step % 3), 1.0, 10, 0, 10) for step in range(60)]
    for calls, expected in ((later, True), (level, False)):
        assert figures(Run(Load("closed"), 0.0, calls=calls), 60).is_saturated is expected


def test_calls_of_the_warm_up_are_left_out():
    calls = [Timed(0.5, 9.0, 9.5, 10, 0, 10), Timed(20.0, 0.1, 0.5, 10, 0, 10)]
    found = figures(Run(Load("closed"), 0.0, calls=calls), 30, warm_up_s=10)
    assert found.calls == 1
    assert found.ttft_ms.p99 == 100


def test_a_result_comes_back_and_becomes_a_baseline(tmp_path):
    found = figures(run(StandIn(), Load("closed", seconds=30, most_calls=3)))
    save(found, tmp_path / "run.json")
    assert read(tmp_path / "run.json") == found
    assert of_baseline(found).ttft_ms == found.ttft_ms
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(Refusal, match=r"run\.json"):
        read(tmp_path / "run.json")


@pytest.mark.parametrize("address", ["http://[", "llm.lab", "ftp://llm.lab/v1", ""])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(Refusal, match="no address"):
        Endpoint(address, "m", None, most_at_once=1, timeout_s=1)


def test_what_is_no_certificate_is_refused(tmp_path):
    (tmp_path / "ca.pem").write_text("hello")
    for file in (tmp_path / "ca.pem", tmp_path / "nowhere"):
        with pytest.raises(Refusal, match="no authority's certificate"):
            Endpoint("https://llm.lab/v1", "m", None, most_at_once=1, timeout_s=1, authority=file)


@pytest.mark.parametrize(
    ("address", "said"),
    [("http://127.0.0.1:9/v1", "127.0.0.1:9 does not answer"), ("http://no.such.name.invalid/v1", "does not answer")],
)
def test_where_nobody_is_it_is_told_within_seconds(address, said):
    endpoint = Endpoint(address, "m", None, most_at_once=1, timeout_s=120)
    with pytest.raises(Refusal, match=said):
        asyncio.run(endpoint.reach())


def test_whoever_accepts_and_says_nothing_is_given_up(monkeypatch):
    monkeypatch.setattr("rackwright.bench.client.REACHED_S", 0.2)

    async def silent():
        async with served(StandIn()) as url:
            await Endpoint(url, "m", None, most_at_once=1, timeout_s=120).reach()
            secret = Endpoint(url.replace("http", "https"), "m", None, most_at_once=1, timeout_s=120)
            with pytest.raises(Refusal, match=r"does not answer \(nothing within 0.2 s\)"):
                await secret.reach()

    asyncio.run(silent())
