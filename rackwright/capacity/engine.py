"""One replica of the engine in steps: continuous batching with admission, priority, preemption and a prefix cache."""

import heapq
from collections import OrderedDict
from dataclasses import dataclass, field

from rackwright.capacity.flight import Call, Segment
from rackwright.capacity.timing import Timing


@dataclass
class Replica:
    """The scheduler and the cache of one replica; time is the caller's."""

    timing: Timing
    step_tokens: int
    sequences: int
    cache_tokens: float
    prefix_caching: bool = True
    waiting: list[tuple[int, int, Call]] = field(default_factory=list)
    prefilling: list[Call] = field(default_factory=list)
    running: list[tuple[int, int, Call]] = field(default_factory=list)
    idle: "OrderedDict[int, int]" = field(default_factory=OrderedDict)
    segment: Segment | None = None
    steps: int = 0  # decode steps so far
    context: float = 0.0
    used: float = 0.0
    kept: float = 0.0
    queued: int = 0  # prompt tokens of calls that wait
    order: int = 0
    busy_ms: float = 0.0
    preemptions: int = 0

    @property
    def load(self) -> float:
        """Tokens to compute or to hold, by which a router compares replicas."""
        return self.used + self.queued

    @property
    def count(self) -> int:
        """Calls that wait or run."""
        return len(self.waiting) + len(self.prefilling) + len(self.running)

    def offer(self, call: Call, now: float) -> bool:
        """Take a call; true where steps under way now end earlier, at the next boundary, so that it can join."""
        self.order += 1
        call.order = self.order
        heapq.heappush(self.waiting, (call.priority, call.order, call))
        self.queued += call.prompt
        segment = self.segment
        if segment is not None and not segment.tokens and segment.count > 1 and self._has_seat():
            passed = max(1, int((now - segment.began) / segment.each_ms) + 1)
            if passed < segment.count:
                segment.count = passed
                return True
        return False

    def ends(self) -> float:
        """When the steps under way end; infinite while there are none."""
        segment = self.segment
        return float("inf") if segment is None else segment.began + segment.each_ms * segment.count

    def start(self, now: float) -> None:
        """Begin the next steps, if there is anything to do."""
        tokens, pairs = self._fill()
        decodes = len(self.running)
        if not tokens and not decodes:
            self.segment = None
            return
        count = 1 if tokens else self.running[0][0] - self.steps
        room = self._room(decodes) if decodes else count
        if room < 1 and decodes > 1:
            self._preempt()
            self.start(now)
            return
        count = max(1, min(count, room))
        middle = self.context + decodes * (count - 1) / 2
        self.segment = Segment(now, self.timing.step_ms(decodes, middle, tokens, pairs), count, tokens)

    def finish(self) -> tuple[list[Call], list[Call]]:
        """End the steps under way: calls that got their first token, and calls that got their last."""
        segment = self.segment
        if segment is None:
            return [], []
        now = self.ends()
        decodes = len(self.running)
        self.busy_ms += now - segment.began
        self.steps += segment.count
        self.context += decodes * segment.count
        self.used += decodes * segment.count
        self.segment = None
        ended = self._ended(now)
        began, at_once = self._began(now)
        return began, ended + at_once

    def _began(self, now: float) -> tuple[list[Call], list[Call]]:
        ready = [call for call in self.prefilling if call.done >= call.prompt]
        if not ready:
            return [], []
        self.prefilling = [call for call in self.prefilling if call.done < call.prompt]
        first, last = [], []
        for call in ready:
            if call.first < 0:
                call.first = now
                first.append(call)
            left = call.output - call.said
            if left <= 1:
                self._leave(call, now, call.prompt)
                last.append(call)
                continue
            heapq.heappush(self.running, (self.steps + left - 1, call.order, call))
            self.context += call.prompt + 1
            self.used += 1
        return first, last

    def _ended(self, now: float) -> list[Call]:
        ended = []
        while self.running and self.running[0][0] <= self.steps:
            call = heapq.heappop(self.running)[2]
            held = call.prompt + call.output - call.said
            self.context -= held
            self._leave(call, now, held)
            ended.append(call)
        return ended

    def _leave(self, call: Call, now: float, held: int) -> None:
        call.last = now
        self.used -= held
        if self.prefix_caching:
            self.kept += held - self.idle.pop(call.session, 0)
            self.idle[call.session] = held
            self._evict(0)

    def _has_seat(self) -> bool:
        return len(self.running) + len(self.prefilling) < self.sequences

    def _fill(self) -> tuple[int, float]:
        """Prompt tokens for the next step, and the pairs that they look back on."""
        budget = self.step_tokens - len(self.running)
        tokens, pairs = 0, 0.0
        for call in self.prefilling:
            if budget <= 0:
                break
            part, looked = _part(call, budget)
            tokens, pairs, budget = tokens + part, pairs + looked, budget - part
        while budget > 0 and self.waiting and self._has_seat() and self._admit(self.waiting[0][2]):
            call = heapq.heappop(self.waiting)[2]
            self.queued -= call.prompt
            self.prefilling.append(call)
            part, looked = _part(call, budget)
            tokens, pairs, budget = tokens + part, pairs + looked, budget - part
        return tokens, pairs

    def _admit(self, call: Call) -> bool:
        """Give a call its room, with what the cache still has of its session; false where there is none."""
        found = min(self.idle.get(call.session, 0), call.reuses, call.prompt - 1) if self.prefix_caching else 0
        alone = not self.running and not self.prefilling
        if not alone and self.used + call.prompt + len(self.running) > self.cache_tokens:
            return False
        if found > 0:
            self.kept -= self.idle.pop(call.session)
            call.hit = call.hit or found
            call.done = found
        self.used += call.prompt
        self._evict(0)
        return True

    def _room(self, decodes: int) -> int:
        """Steps until the cache is full, once everything idle has gone."""
        free = self.cache_tokens - self.used
        self._evict(decodes)
        return int(free / decodes)

    def _evict(self, more: float) -> None:
        """Let the longest idle go until so many more tokens fit."""
        while self.idle and self.used + self.kept + more > self.cache_tokens:
            self.kept -= self.idle.popitem(last=False)[1]

    def _preempt(self) -> None:
        """The least urgent and newest sequence gives its room back and is computed again."""
        victim = max(self.running, key=lambda each: (each[2].priority, each[1]))
        self.running.remove(victim)
        heapq.heapify(self.running)
        end, order, call = victim
        left = end - self.steps
        now_said = call.output - left
        held = call.prompt + now_said - call.said
        self.context -= held
        self.used -= held
        call.prompt += now_said - call.said
        call.said, call.done = now_said, 0
        call.preempted += 1
        self.preemptions += 1
        heapq.heappush(self.waiting, (call.priority, order, call))
        self.queued += call.prompt


def _part(call: Call, budget: int) -> tuple[int, float]:
    part = min(budget, call.prompt - call.done)
    pairs = part * (call.done + (part + 1) / 2)
    call.done += part
    return part, pairs
