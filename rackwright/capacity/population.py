"""Who calls: people who chat and agents that work in rounds of calls and tools, with contexts that grow."""

import math
import random
from dataclasses import dataclass, field

from rackwright.capacity.calls import CHAT, Calls
from rackwright.capacity.flight import Call

INTERACTIVE, BACKGROUND = 0, 1
HOUR_MS = 3_600_000.0
SPREAD = 0.6  # standard deviation of the logarithm of prompt and answer lengths
TURNS = 6  # turns of a conversation, on average
LEAST = 16  # tokens of the shortest prompt


@dataclass(frozen=True)
class Population:
    """The load: numbers of people and agents, and what their actions are like. Token counts are medians."""

    users: int
    agents: int
    actions_per_hour: float
    calls: Calls
    prompt_tokens: int
    output_tokens: int
    growth_tokens: int = 1000  # by which a context grows from one round to the next: answer and tool's result
    fan_out: float = 1.0  # calls of a round at once
    tool_s: float = 5.0  # seconds of tools between two rounds, on average
    longest: int = 1 << 30  # tokens of the longest context served

    @property
    def mean_length_factor(self) -> float:
        """A mean length by its median."""
        return math.exp(SPREAD**2 / 2)

    @property
    def calls_per_second(self) -> float:
        """Model calls of all of them together, on average."""
        return (self.users + self.agents * self.calls.mean) * self.actions_per_hour / 3600

    @property
    def rounds(self) -> float:
        """Rounds of an agent's action, on average."""
        return max(1.0, self.calls.mean / self.fan_out)


@dataclass(slots=True)
class Action:
    """What a person or an agent started, and what is left of it."""

    session: int
    kind: int
    started: float
    rounds: int
    width: int
    spare: int  # calls by which the last round is narrower
    context: int
    round: int = 0
    pending: int = 0
    cached: int = 0
    ended: float = -1.0


@dataclass
class Source:
    """Draws actions, rounds and pauses."""

    population: Population
    random: random.Random
    contexts: dict[int, int] = field(default_factory=dict)  # by a person, tokens of the conversation so far

    def first(self) -> list[tuple[float, int]]:
        """When each session starts its first action, in ms."""
        count = self.population.users + self.population.agents
        return [(self.pause(), session) for session in range(count)]

    def pause(self) -> float:
        """From the start of one action to that of the next, in ms."""
        return self.random.expovariate(self.population.actions_per_hour / HOUR_MS)

    def tool(self) -> float:
        """How long tools run between two rounds, in ms."""
        mean = self.population.tool_s * 1e3
        return self.random.expovariate(1 / mean) if mean > 0 else 0.0

    def action(self, session: int, now: float) -> Action:
        """A new action of a session."""
        population = self.population
        if session < population.users:
            cached = self._conversation(session)
            return Action(session, INTERACTIVE, now, 1, 1, 0, self._length(population.prompt_tokens), cached=cached)
        calls = population.calls.draw(self.random)
        width = max(1, round(population.fan_out))
        rounds = -(-calls // width)
        before = (population.rounds - 1) / 2 * population.growth_tokens
        start = max(self._length(population.prompt_tokens) - int(before), LEAST)
        return Action(session, BACKGROUND, now, rounds, width, rounds * width - calls, start)

    def round(self, action: Action, now: float) -> list[Call]:
        """The calls of an action's next round."""
        action.round += 1
        width = action.width - (action.spare if action.round == action.rounds else 0)
        action.pending = max(width, 1)
        calls = []
        for _ in range(action.pending):
            output = min(self._length(self.population.output_tokens), max(self.population.longest - LEAST, 1))
            prompt = max(LEAST, min(action.context, self.population.longest - output))
            calls.append(Call(action.session, action.kind, prompt, output, reuses=min(action.cached, prompt), came=now))
        return calls

    def answered(self, action: Action, call: Call) -> None:
        """A call of an action has ended: the next round finds its context, and what tools add."""
        action.pending -= 1
        action.cached = call.prompt + call.output - call.said
        action.context += self.population.growth_tokens if action.pending == 0 else 0
        if action.kind == INTERACTIVE:
            self.contexts[action.session] = action.cached

    def _conversation(self, session: int) -> int:
        """Tokens that a person's next turn shares with the last, or none where a new conversation begins."""
        return self.contexts.get(session, 0) if self.random.random() > 1 / TURNS else 0

    def _length(self, median: int) -> int:
        return max(1, int(median * math.exp(self.random.gauss(0, SPREAD))))


def chat_only(users: int, actions_per_hour: float, prompt_tokens: int, output_tokens: int) -> Population:
    """People alone."""
    return Population(users, 0, actions_per_hour, CHAT, prompt_tokens, output_tokens)
