"""What sessions ask for: people's turns and agents' rounds, with contexts that grow and stand in the cache in part."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rackwright.capacity.calls import PATTERNS
from rackwright.capacity.demand import calls_of
from rackwright.site.workload import Workload

Trace = Literal["chat", "agent"]
TURNS = 8  # of one chat, as the reckoning has it
THINKING_S = 10.0  # between a person's turns, on average
SPREAD = 0.6  # of the logarithm of lengths: P95 is 2.7 times the median
# Words that common tokenizers make one token each, with the blank before them.
WORDS = (
    "time", "year", "people", "way", "day", "man", "thing", "woman", "life", "child", "world", "school", "state",
    "family", "student", "group", "country", "problem", "hand", "part", "place", "case", "week", "company", "system",
    "program", "question", "work", "government", "number", "night", "point", "home", "water", "room", "mother",
    "area", "money", "story", "fact", "month", "lot", "right", "study", "book", "eye", "job", "word", "business",
    "issue", "side", "kind", "head", "house", "service", "friend",
)  # fmt: skip


@dataclass(frozen=True)
class Call:
    """One call: the whole prompt, of which `fresh` tokens are new since the call before, and the answer's length."""

    prompt: str
    fresh: int
    output_tokens: int


@dataclass(frozen=True)
class Round:
    """Calls at the same time, and the pause before them."""

    pause_s: float
    calls: tuple[Call, ...]


def sessions(trace: Trace, workload: Workload, seed: int = 0) -> Iterator[Iterator[Round]]:
    """Sessions without end, each with a context of its own, the same ones for the same seed."""
    number = 0
    while True:
        chance = random.Random(f"{seed} {trace} {number}")  # noqa: S311 - lengths, not secrets
        yield _chat(workload, chance, number) if trace == "chat" else _agent(workload, chance, number)
        number += 1


def _chat(workload: Workload, chance: random.Random, number: int) -> Iterator[Round]:
    """Turns whose context ends, after half of them, at the median prompt."""
    step = max(workload.prompt_tokens * 2 // (TURNS + 1), 1)
    context = words(chance, _length(step, chance), number)
    for turn in range(TURNS):
        output = _length(workload.output_tokens, chance)
        fresh = len(context) if turn == 0 else step
        pause = 0.0 if turn == 0 else chance.expovariate(1 / THINKING_S)
        yield Round(pause, (Call(" ".join(context), fresh, output),))
        context += words(chance, step)


def _agent(workload: Workload, chance: random.Random, number: int) -> Iterator[Round]:
    """Rounds of calls at once, then tools; their number has the site's heavy tail."""
    calls = calls_of(workload).draw(chance)
    at_once = max(round(workload.fan_out), 1)
    rounds = -(-calls // at_once)
    first = max(workload.prompt_tokens - (rounds - 1) * workload.growth_tokens // 2, workload.prompt_tokens // 4, 1)
    context = words(chance, _length(first, chance), number)
    fresh = len(context)
    for index in range(rounds):
        pause = 0.0 if index == 0 or not workload.tool_s else chance.expovariate(1 / workload.tool_s)
        text = " ".join(context)
        width = min(at_once, calls - index * at_once)
        yield Round(pause, tuple(Call(text, fresh, _length(workload.output_tokens, chance)) for _ in range(width)))
        context += words(chance, workload.growth_tokens)
        fresh = workload.growth_tokens


def words(chance: random.Random, count: int, number: int | None = None) -> list[str]:
    """So many words; a number at the front keeps sessions out of one another's caches."""
    front = [] if number is None else [f"Session {number} {chance.random()}."]
    return front + chance.choices(WORDS, k=max(count, 1))


def _length(median: float, chance: random.Random) -> int:
    return max(1, round(median * chance.lognormvariate(0, SPREAD)))


def patterns() -> tuple[str, ...]:
    """The patterns of calls that agents may have."""
    return tuple(PATTERNS)
