"""The closed loop that published measurements run: so many requests in flight, ten times as many in all, one start.

Requests arrive the moment another ends, at the end of a step, so what happens in which step does not depend on how long
a step takes: the schedule is reckoned once, in steps, and a model of time is laid over it.
"""

import heapq
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

WAVES = 10  # requests in all, by requests in flight
STRAY = 0.01  # share of requests that may wait for the cache in a run that it does not limit
SHORTEST = 0.8  # lengths are drawn between this share of the stated one and all of it


@dataclass
class Step:
    """`count` equal steps: decoding sequences, their contexts at first, prompt tokens, tokens looked back on."""

    count: int
    decodes: int
    context: float
    prefill: int
    pairs: float


@dataclass
class Request:
    """One request: lengths, and the number of steps done when it came, got its first and its last token."""

    prompt: int  # grows by what was said when the sequence loses its room
    output: int  # still to be said, from the prompt on
    tokens: int  # output in all
    came: int = 0
    first: int = 0
    last: int = 0
    done: int = 0  # prompt tokens computed
    has_waited: bool = False


@dataclass
class Schedule:
    """All steps of a run and its requests; how many had to wait for room in the cache, or lost theirs."""

    steps: list[Step] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    waited: int = 0
    preempted: int = 0

    @property
    def is_limited(self) -> bool:
        """True where the cache held requests up, more than a stray one."""
        return self.waited + self.preempted > len(self.requests) * STRAY

    def mean(self, cost: Callable[[Step], float]) -> tuple[float, float]:
        """Mean time to the first token, and mean time of each further one, where `cost` is that of a Step's steps."""
        passed = [0.0]
        for step in self.steps:
            passed.append(passed[-1] + cost(step))
        first = sum(passed[each.first] - passed[each.came] for each in self.requests)
        further = sum((passed[each.last] - passed[each.first]) / max(each.tokens - 1, 1) for each in self.requests)
        return first / len(self.requests), further / len(self.requests)


@dataclass(frozen=True)
class Room:
    """What holds a replica back: tokens a step, sequences at once, and the cache in tokens."""

    step_tokens: int = 8192
    sequences: int = 1 << 30
    cache_tokens: float = float("inf")


def schedule(prompt: int, output: int, concurrency: int, room: Room, *, waves: int = WAVES, seed: int = 0) -> Schedule:
    """The run of one measurement."""
    draw = random.Random(seed)  # noqa: S311 - lengths, not secrets
    lengths = [(_drawn(draw, prompt), _drawn(draw, output)) for _ in range(concurrency * waves)]
    requests = [Request(into, out, out) for into, out in lengths]
    return _Run(requests, concurrency, room).run()


def _drawn(draw: random.Random, stated: int) -> int:
    return draw.randint(max(int(stated * SHORTEST), 1), stated)


class _Run:
    """The engine's scheduler, in steps."""

    def __init__(self, requests: Sequence[Request], concurrency: int, room: Room) -> None:
        self.made = Schedule(requests=list(requests))
        self.room = room
        self.waiting = self.made.requests[:concurrency]
        self.to_come = self.made.requests[concurrency:]
        self.prefilling: list[Request] = []
        self.running: list[tuple[int, int, Request]] = []  # by the decode step in which they end
        self.clock = 0  # decode steps so far
        self.order = 0
        self.context = 0.0
        self.used = 0.0
        self.ended = 0

    def run(self) -> Schedule:
        """All requests, to the last token."""
        total = len(self.made.requests)
        while self.ended < total:
            self._one(*self._fill())
        return self.made

    def _fill(self) -> tuple[int, float]:
        """Prompt tokens for this step, and the pairs that they look back on."""
        budget = self.room.step_tokens - len(self.running)
        tokens, pairs = 0, 0.0
        for request in self.prefilling:
            tokens, pairs, budget = _take(request, tokens, pairs, budget)
        while budget > 0 and self.waiting and self._admits(self.waiting[0]):
            request = self.waiting.pop(0)
            self.used += request.prompt
            self.prefilling.append(request)
            tokens, pairs, budget = _take(request, tokens, pairs, budget)
        return tokens, pairs

    def _admits(self, request: Request) -> bool:
        at_once = len(self.running) + len(self.prefilling)
        if at_once >= self.room.sequences:
            return False
        if at_once and self.used + request.prompt + len(self.running) > self.room.cache_tokens:
            self.made.waited += not request.has_waited
            request.has_waited = True
            return False
        return True

    def _one(self, tokens: int, pairs: float) -> None:
        """One step, or as many equal ones as nothing ends in."""
        decodes = len(self.running)
        count = 1 if tokens else self.running[0][0] - self.clock
        space = (self.room.cache_tokens - self.used) / decodes if decodes else float("inf")
        if space < 1 and decodes > 1:
            self._preempt()
            return
        count = max(1, min(count, int(space) if space < count else count))
        self.made.steps.append(Step(count, decodes, self.context, tokens, pairs))
        self.clock += count
        self.context += decodes * count
        self.used += decodes * count
        now = len(self.made.steps)
        self._end(now)
        self._begin(now)

    def _begin(self, now: int) -> None:
        """Prompts that are computed give their first token."""
        for request in [each for each in self.prefilling if each.done >= each.prompt]:
            self.prefilling.remove(request)
            request.first = request.first or now
            if request.output <= 1:
                self._leave(request, now, request.prompt)
                continue
            self.order += 1
            heapq.heappush(self.running, (self.clock + request.output - 1, self.order, request))
            self.context += request.prompt + 1
            self.used += 1

    def _end(self, now: int) -> None:
        while self.running and self.running[0][0] <= self.clock:
            _, _, request = heapq.heappop(self.running)
            self.context -= request.prompt + request.output
            self._leave(request, now, request.prompt + request.output)

    def _leave(self, request: Request, now: int, held: float) -> None:
        request.last = now
        self.used -= held
        self.ended += 1
        if self.to_come:
            following = self.to_come.pop(0)
            following.came = now
            self.waiting.append(following)

    def _preempt(self) -> None:
        """The newest sequence gives its room back and will be computed again, with what it had said as its prompt."""
        newest = max(self.running, key=lambda each: each[1])
        self.running.remove(newest)
        heapq.heapify(self.running)
        end, _, request = newest
        said = request.output - (end - self.clock)
        self.context -= request.prompt + said
        self.used -= request.prompt + said
        request.prompt, request.output, request.done = request.prompt + said, request.output - said, 0
        self.waiting.insert(0, request)
        self.made.preempted += 1


def _take(request: Request, tokens: int, pairs: float, budget: int) -> tuple[int, float, int]:
    part = min(budget, request.prompt - request.done)
    pairs += part * (request.done + (part + 1) / 2)
    request.done += part
    return tokens + part, pairs, budget - part
