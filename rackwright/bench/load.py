"""Laying a load on an endpoint: so many sessions at once (closed loop), or so many that begin a second (open loop)."""

import asyncio
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from rackwright.bench.client import Endpoint, Timed
from rackwright.bench.traces import Round

SECONDS_BETWEEN_WORDS = 5.0


@dataclass(frozen=True)
class Load:
    """How much, and when it ends: after so many seconds or calls, whichever comes first."""

    loop: Literal["closed", "open"]
    sessions: int = 1  # at once, in a closed loop
    rate: float = 1.0  # that begin a second, in an open one
    seconds: float = 60.0
    most_calls: int = 10_000
    most_at_once: int = 1_000  # sessions of an open loop: one that would be more is counted, not begun
    seed: int = 0


@dataclass
class Run:
    """A test as it goes."""

    load: Load
    began: float
    calls: list[Timed] = field(default_factory=list)
    actions_s: list[float] = field(default_factory=list)
    asked: int = 0
    at_work: int = 0
    held_back: int = 0

    @property
    def is_over(self) -> bool:
        """Whether nothing more is begun."""
        return self.asked >= self.load.most_calls or time.perf_counter() - self.began >= self.load.seconds


async def lay(
    endpoint: Endpoint, load: Load, sessions: Iterator[Iterator[Round]], progress: Callable[[str], None]
) -> Run:
    """Run the test; what is under way at its end is cut off and not counted."""
    run = Run(load, time.perf_counter())
    teller = asyncio.create_task(_tell(run, progress))
    driver = _closed if load.loop == "closed" else _open
    workers = asyncio.create_task(driver(endpoint, run, sessions))
    try:
        await asyncio.wait({workers}, timeout=load.seconds)
        if workers.done():
            workers.result()  # an error of ours is not swallowed
    finally:
        for task in (workers, teller):
            task.cancel()
        await asyncio.gather(workers, teller, return_exceptions=True)
        await endpoint.close()
    return run


async def _closed(endpoint: Endpoint, run: Run, sessions: Iterator[Iterator[Round]]) -> None:
    async def one() -> None:
        while not run.is_over:
            await _session(endpoint, run, next(sessions))

    async with asyncio.TaskGroup() as group:
        for _ in range(run.load.sessions):
            group.create_task(one())


async def _open(endpoint: Endpoint, run: Run, sessions: Iterator[Iterator[Round]]) -> None:
    """Sessions begin by a clock of chance, whether or not those before have ended: what users do."""
    chance = random.Random(run.load.seed)  # noqa: S311 - times, not secrets
    due = run.began
    async with asyncio.TaskGroup() as group:
        while not run.is_over:
            due += chance.expovariate(run.load.rate)
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            if run.at_work >= run.load.most_at_once:
                run.held_back += 1
                continue
            run.at_work += 1
            group.create_task(_counted(endpoint, run, next(sessions)))


async def _counted(endpoint: Endpoint, run: Run, session: Iterator[Round]) -> None:
    try:
        await _session(endpoint, run, session)
    finally:
        run.at_work -= 1


async def _session(endpoint: Endpoint, run: Run, session: Iterator[Round]) -> None:
    """One session to its end; a round that fails ends it, as it would end a user's patience."""
    start = time.perf_counter()
    for each in session:
        await asyncio.sleep(each.pause_s)
        if run.is_over:
            return
        run.asked += len(each.calls)
        timed = await asyncio.gather(*(endpoint.ask(call, run.began) for call in each.calls))
        run.calls += timed
        if any(call.error for call in timed):
            await asyncio.sleep(0.1)  # an endpoint that refuses at once is not hammered
            return
    run.actions_s.append(time.perf_counter() - start)


async def _tell(run: Run, progress: Callable[[str], None]) -> None:
    while True:
        await asyncio.sleep(SECONDS_BETWEEN_WORDS)
        failed = sum(call.error is not None for call in run.calls)
        left = max(0.0, run.load.seconds - (time.perf_counter() - run.began))
        progress(f"{len(run.calls) - failed} calls answered, {failed} failed, {left:.0f} s left")
