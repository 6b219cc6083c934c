"""A replica under a steady load, by formula: Little's law, decode steps, prompts that stand in their way, and queues.

Prompts take a share `rho = calls x prefill` of all time. Decode steps run in the rest, so a further token takes
`decode / (1 - rho)`, and `sequences = calls x output x tpot` run at once (Little). A new call waits for prompts before
it: `rho x prefill x (1 + variation) / (2 x (1 - rho))` (Pollaczek and Khinchine), and for the decode steps under way.
"""

from dataclasses import dataclass

from rackwright.capacity.timing import Timing

ROUNDS = 60
FULL = 0.98  # share of all time for prompts beyond which a queue has no end
LENGTHS_VARIATION = 0.43  # squared coefficient of variation of prompt lengths: that of the population


@dataclass(frozen=True)
class Load:
    """Calls a second to one replica, and their tokens on average; `cached` of the prompt are in the cache already."""

    calls: float
    prompt: float
    output: float
    cached: float = 0.0

    def times(self, factor: float) -> "Load":
        """The same calls, more or fewer of them."""
        return Load(self.calls * factor, self.prompt, self.output, self.cached)


@dataclass(frozen=True)
class Steady:
    """What a replica does under a load: means in ms, sequences at once, shares of time and of the cache."""

    ttft_ms: float
    tpot_ms: float
    sequences: float
    prefill_ms: float
    prefill_share: float
    cache_share: float
    limit: str | None  # what has no steady state: prompts, cache or sequences

    def end_to_end_ms(self, output: float) -> float:
        """From the request to its last token."""
        return self.ttft_ms + max(output - 1, 0) * self.tpot_ms


def steady(timing: Timing, load: Load) -> Steady:
    """The steady state of a replica, or the limit that a load is beyond."""
    replica = timing.replica
    context = load.prompt + load.output / 2
    prefill = timing.prefill_ms(load.prompt, load.cached)
    alone = timing.decode_ms(1, context)
    rho = load.calls * max(prefill - alone, 0.0) / 1e3  # a prompt's step takes the running sequences along
    held = max(replica.sequences_of(load.prompt + load.output), 1e-9) * replica.data_parallel
    most = float(replica.sequences * replica.data_parallel)
    if rho >= FULL:
        return Steady(float("inf"), float("inf"), most, prefill, rho, 1.0, "prompts")
    sequences = _running(timing, load, rho, context)
    tpot = timing.decode_ms(max(sequences, 1.0), context) / (1 - rho)
    share = sequences / held
    limit = "cache" if share > 1 else "sequences" if sequences > most else None
    queue = rho * prefill * (1 + LENGTHS_VARIATION) / (2 * (1 - rho))
    ttft = timing.request_ms(load.prompt, tpot) + prefill + queue
    return Steady(ttft, tpot, sequences, prefill, rho, share, limit)


def _running(timing: Timing, load: Load, rho: float, context: float) -> float:
    """Sequences that decode at once: the fixed point of Little's law, between none and far too many."""
    low, high = 0.0, 65_536.0
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        tpot = timing.decode_ms(max(middle, 1.0), context) / (1 - rho)
        low, high = (middle, high) if load.calls * load.output * tpot / 1e3 > middle else (low, middle)
    return high


def most_calls(timing: Timing, load: Load, ttft_ms: float, tpot_ms: float) -> float:
    """Calls a second that a replica answers within targets for its means; 0 where not even one alone does."""
    low, high = 0.0, 1e-4
    while _meets(steady(timing, load.times(high / load.calls)), ttft_ms, tpot_ms) and high < 1e6:
        low, high = high, high * 4
    for _ in range(ROUNDS // 2):
        middle = (low + high) / 2
        found = steady(timing, load.times(middle / load.calls))
        low, high = (middle, high) if _meets(found, ttft_ms, tpot_ms) else (low, middle)
    return low


def _meets(found: Steady, ttft_ms: float, tpot_ms: float) -> bool:
    return found.limit is None and found.ttft_ms <= ttft_ms and found.tpot_ms <= tpot_ms
