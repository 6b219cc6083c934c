"""Loads for benchmarks of routing: what agents and their users ask, and how long they wait for it."""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import quantiles

import httpx
from simulated_rack import MODEL, SESSION

WORD = 4  # bytes: three letters and a space, which the picker and the simulator both take for one token


@dataclass(frozen=True)
class Step:
    """One call: what it adds to the context, how long the answer may get, the pause of the tool before it."""

    adds: int
    answer: int
    pause_s: float


@dataclass(frozen=True)
class Session:
    """A chain of calls whose context grows; `shared` names the text that it begins with, of so many tokens."""

    name: str
    shared: str
    shared_tokens: int
    steps: tuple[Step, ...]
    beside: int = 1  # calls at once in each step, as of an agent that has helpers


@dataclass
class Seen:
    """What was measured."""

    first_token_s: list[float] = field(default_factory=list)
    whole_s: list[float] = field(default_factory=list)
    token_s: list[float] = field(default_factory=list)
    by_replica: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)

    def first(self, share: int) -> float:
        """The time to the first token that so many in a hundred keep."""
        return quantiles(self.first_token_s, n=100)[share - 1]

    def whole(self, share: int) -> float:
        """The time to the last token, likewise."""
        return quantiles(self.whole_s, n=100)[share - 1]

    def per_token(self, share: int) -> float:
        """The time between two tokens of a request, likewise."""
        return quantiles(self.token_s, n=100)[share - 1]

    @property
    def uneven(self) -> float:
        """The busiest replica's requests by those of the average."""
        return max(self.by_replica.values()) * len(self.by_replica) / sum(self.by_replica.values())


def agents(seed: int, sessions: int) -> list[Session]:
    """Agents that all begin with the same 2,000 tokens of instructions, and add what tools bring."""
    dice = random.Random(seed)
    return [Session(f"agent-{n}", "instructions", 2000, _steps(dice, dice.randint(6, 12))) for n in range(sessions)]


def short_sessions(seed: int, sessions: int) -> list[Session]:
    """One or two calls each, which begin with one of eight documents of 6,000 tokens."""
    dice = random.Random(seed)
    chosen = [dice.randrange(8) for _ in range(sessions)]
    return [Session(f"short-{n}", f"document-{which}", 6000, _steps(dice, 2)) for n, which in enumerate(chosen)]


def hot_session(seed: int, sessions: int) -> list[Session]:
    """One session whose every step is twenty calls at once, among others that are as they were."""
    dice = random.Random(seed)
    return [*agents(seed, sessions), Session("hot", "instructions", 2000, _steps(dice, 8), beside=20)]


def words(name: str, tokens: int) -> str:
    """Text of so many tokens, the same for the same name."""
    dice = random.Random(name)
    return "".join(f"{''.join(dice.choices('abcdefghijklmnopqrstuvwxyz', k=3))} " for _ in range(tokens))


async def play(
    client: httpx.AsyncClient, way: str, sessions: Sequence[Session], *, at_once: int, seen: Seen | None = None
) -> Seen:
    """Let all of them call, so many at once, by one of the proxy's ways to the replicas."""
    seen, gate = seen or Seen(), asyncio.Semaphore(at_once)

    async def one(session: Session) -> None:
        async with gate:
            await _session(client, way, session, seen)

    await asyncio.gather(*(one(session) for session in sessions))
    return seen


async def call(client: httpx.AsyncClient, way: str, text: str, answer: int, session: str, seen: Seen) -> str:
    """One call, measured; what was answered."""
    body = {"model": MODEL.name, "prompt": text, "stream": True, "max_tokens": answer, "ignore_eos": True}
    began, first, tokens = time.monotonic(), 0.0, 0
    said = []
    try:
        async with client.stream("POST", f"/{way}/v1/completions", json=body, headers={SESSION: session}) as reply:
            if reply.status_code != 200:
                await reply.aread()
                seen.failed[str(reply.status_code)] += 1
                return ""
            seen.by_replica[reply.headers.get("x-inference-port", "?")] += 1
            async for line in reply.aiter_lines():
                part = _text(line)
                if part:
                    first = first or time.monotonic()
                    tokens += 1
                    said.append(part)
    except httpx.TransportError as error:
        seen.failed[type(error).__name__] += 1
        return ""
    if first:
        end = time.monotonic()
        seen.first_token_s.append(first - began)
        seen.whole_s.append(end - began)
        if tokens > 1:
            seen.token_s.append((end - first) / (tokens - 1))
    return "".join(said)


async def _session(client: httpx.AsyncClient, way: str, session: Session, seen: Seen) -> None:
    context = words(session.shared, session.shared_tokens)
    for number, step in enumerate(session.steps):
        await asyncio.sleep(step.pause_s)
        context += words(f"{session.name}-{number}", step.adds)
        calls = [
            call(client, way, context + words(f"{session.name}-{number}-{n}", 50 * n), step.answer, session.name, seen)
            for n in range(session.beside)
        ]
        await asyncio.gather(*calls)
        context += words(f"{session.name}-{number}-answer", step.answer)


def _steps(dice: random.Random, count: int) -> tuple[Step, ...]:
    return tuple(Step(dice.randint(500, 1500), dice.randint(50, 200), dice.uniform(0.2, 1.0)) for _ in range(count))


def _text(line: str) -> str:
    if not line.startswith("data: {"):
        return ""
    choices = json.loads(line.removeprefix("data: ")).get("choices") or [{}]
    return str(choices[0].get("text") or "")
