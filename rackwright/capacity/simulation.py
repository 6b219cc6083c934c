"""An hour of people and agents on some replicas, event by event: tails of every call and of whole actions."""

import heapq
import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from rackwright.capacity.engine import Replica
from rackwright.capacity.flight import Call
from rackwright.capacity.population import BACKGROUND, HOUR_MS, INTERACTIVE, Action, Population, Source
from rackwright.capacity.timing import Timing
from rackwright.capacity.verification import quantile

SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
WARM = 0.1  # share of the time that passes before anything counts
STAYS = 1.5  # a session stays with its cache until that replica has so many times the least load


@dataclass
class Simulated:
    """Calls and actions that ended, in the order of their ends; times in ms."""

    calls: list[Call] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    started: int = 0
    open_calls: int = 0
    from_ms: float = 0.0
    until_ms: float = 0.0
    busy_share: float = 0.0
    preemptions: int = 0
    in_flight_ms: float = 0.0  # sum over time of calls in the system

    def of(self, kind: int) -> list[Call]:
        """Calls of people or of agents."""
        return [call for call in self.calls if call.priority == kind]


def simulate(
    timing: Timing, replicas: int, population: Population, *, hours: float = 1.0, priority: bool = False, seed: int = 0
) -> Simulated:
    """Run a population against replicas; with `priority` people go before agents."""
    return _World(timing, replicas, population, priority=priority, seed=seed).run(hours * HOUR_MS)


class _World:
    def __init__(self, timing: Timing, replicas: int, population: Population, *, priority: bool, seed: int) -> None:
        replica = timing.replica
        self.is_alone = replicas == 1
        typical = float(population.prompt_tokens + population.output_tokens)
        tokens = max(replica.sequences_of(typical), 1.0) * typical * replica.data_parallel
        step = replica.step_tokens * replica.data_parallel * replica.pipeline_parallel
        seats = replica.sequences * replica.data_parallel
        self.timing = timing
        self.replicas = [Replica(timing, step, seats, tokens, replica.prefix_caching) for _ in range(replicas)]
        self.source = Source(population, random.Random(seed))  # noqa: S311 - a load, not a secret
        self.priority = priority
        self.events: list[tuple[float, int, Any]] = []
        self.number = 0
        self.homes: dict[int, Replica] = {}
        self.actions: dict[int, Action] = {}
        self.planned: dict[int, float] = {}
        self.made = Simulated()
        self.open = 0
        self.last_ms = 0.0
        self.delay = timing.known["token"] * 1e-3

    def run(self, end: float) -> Simulated:
        self.made.from_ms, self.made.until_ms = WARM * end, end
        self._at(end, None)
        for when, session in self.source.first():
            self._at(when, session)
        events = self.events
        while events[0][0] < end:
            now, _, what = heapq.heappop(events)
            if isinstance(what, Replica):
                if what.segment is None or what.ends() != now:
                    continue  # these steps were cut short, and their end stands elsewhere
                self._pass(now)
                self._finish(what, now)
            else:
                self._pass(now)
                self._event(what, now)
        self._pass(end)
        self.made.open_calls = self.open
        busy = sum(replica.busy_ms for replica in self.replicas)
        self.made.busy_share = busy / (end * len(self.replicas))
        self.made.preemptions = sum(replica.preemptions for replica in self.replicas)
        return self.made

    def _at(self, when: float, what: Any) -> None:
        self.number += 1
        heapq.heappush(self.events, (when, self.number, what))

    def _pass(self, now: float) -> None:
        """Count how many calls are in the system while time passes."""
        since = max(self.last_ms, self.made.from_ms)
        if now > since:
            self.made.in_flight_ms += self.open * (now - since)
        self.last_ms = now

    def _event(self, what: Any, now: float) -> None:
        """A session begins an action, an action its next round, or a call reaches its replica."""
        if isinstance(what, Call):
            self._offer(what, now)
        elif isinstance(what, Action):
            self._round(what, now)
        else:
            self.planned[what] = now + self.source.pause()
            self._round(self.source.action(what, now), now)

    def _round(self, action: Action, now: float) -> None:
        self.actions[action.session] = action
        for call in self.source.round(action, now):
            if not self.priority:
                call.priority, call.action = INTERACTIVE, action.kind
            else:
                call.action = action.kind
            self.open += 1
            self.made.started += 1
            self._at(now + self.timing.known["request"] + self.delay * call.prompt, call)

    def _offer(self, call: Call, now: float) -> None:
        replica = self._route(call.session)
        if replica.offer(call, now):
            self._at(replica.ends(), replica)
        elif replica.segment is None:
            self._start(replica, now)

    def _route(self, session: int) -> Replica:
        if self.is_alone:
            return self.replicas[0]
        least = min(self.replicas, key=lambda replica: replica.load)
        home = self.homes.get(session, least)
        if home.load > STAYS * least.load + home.step_tokens:
            home = least
        self.homes[session] = home
        return home

    def _finish(self, replica: Replica, now: float) -> None:
        _, ended = replica.finish()
        for call in ended:
            self._answered(call, now)
        self._start(replica, now)

    def _start(self, replica: Replica, now: float) -> None:
        replica.start(now)
        if replica.segment is not None:
            self._at(replica.ends(), replica)

    def _answered(self, call: Call, now: float) -> None:
        self.open -= 1
        call.priority = call.action
        action = self.actions[call.session]
        self.source.answered(action, call)
        counts = call.came >= self.made.from_ms
        if counts:
            self.made.calls.append(call)
        if action.pending:
            return
        if action.round < action.rounds:
            self._at(now + self.source.tool(), action)
            return
        action.ended = now
        if action.started >= self.made.from_ms:
            self.made.actions.append(action)
        self._at(max(now, self.planned[action.session]), action.session)


def quantiles(values: Iterable[float]) -> dict[str, float] | None:
    """P50, P95 and P99 of some values; nothing for none."""
    ordered = sorted(values)
    return {name: quantile(ordered, share) for name, share in SHARES.items()} if ordered else None


def tails(made: Simulated, kind: int | None = None) -> dict[str, Any]:
    """Tails of the first token, of further tokens, of calls and of whole actions, in ms, of people, agents or all."""
    calls = made.calls if kind is None else made.of(kind)
    actions = [each for each in made.actions if kind is None or each.kind == kind]
    return {
        "calls": len(calls),
        "ttft_ms": quantiles(call.first - call.came for call in calls),
        "tpot_ms": quantiles((call.last - call.first) / (call.output - 1) for call in calls if call.output > 1),
        "end_to_end_ms": quantiles(call.last - call.came for call in calls),
        "actions": len(actions),
        "action_ms": quantiles(each.ended - each.started for each in actions),
    }


KINDS = {"users": INTERACTIVE, "agents": BACKGROUND}
