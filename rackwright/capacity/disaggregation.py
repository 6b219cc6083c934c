"""Prefill and decode on GPUs of their own: what it would gain and what the network takes, for a load and a network."""

from dataclasses import dataclass

from rackwright.capacity.steady import FULL, LENGTHS_VARIATION, Load, steady
from rackwright.capacity.timing import Timing
from rackwright.site import moving

LAYERWISE = 0.5  # share of a transfer that hides behind the prefill, where layers leave as they are computed
MARGIN = 0.1  # gain in the time of a further token below which moving parts are not worth it
NETWORKS_GBPS = (25, 100, 400)


@dataclass(frozen=True)
class Apart:
    """One division of replicas into prefill and decode, beside all of them doing both; times in ms."""

    prefill: int
    decode: int
    network_gbps: float
    transfer_ms: float
    ttft_ms: float
    tpot_ms: float
    together_ttft_ms: float
    together_tpot_ms: float
    pays: bool
    why: str


def transfer_ms(timing: Timing, prompt: float, network_gbps: float) -> float:
    """Time to move a prompt's keys and values between replicas, each GPU's part over one port of its own or shared."""
    replica = timing.replica
    parts = 1 if replica.shape.latent is not None else replica.tensor_parallel
    total = replica.sequence_bytes(prompt) * parts * replica.pipeline_parallel
    return moving.transfer_ms(total, network_gbps)


def apart(timing: Timing, load: Load, replicas: int, network_gbps: float, *, wished: int | None = None) -> Apart:
    """The best division of so many replicas for a load on each, or that with so many for prefill, against none."""
    together = steady(timing, load)
    tried = range(1, replicas) if wished is None else [wished]
    options = [_divided(timing, load, prefill, replicas - prefill, network_gbps) for prefill in tried]
    possible = [each for each in options if each is not None]
    moved = transfer_ms(timing, load.prompt, network_gbps)
    if not possible:
        why = "no division carries the load" if replicas > 1 else "one replica cannot be divided"
        return Apart(0, 0, network_gbps, moved, *_inf(), together.ttft_ms, together.tpot_ms, pays=False, why=why)
    prefill, decode, ttft, tpot = min(possible, key=lambda each: each[3] + each[2] / load.output)
    pays, why = _verdict(together.ttft_ms, together.tpot_ms, ttft, tpot, moved, load.output)
    return Apart(
        prefill, decode, network_gbps, moved, ttft, tpot, together.ttft_ms, together.tpot_ms, pays=pays, why=why
    )


def _inf() -> tuple[float, float]:
    return float("inf"), float("inf")


def _divided(
    timing: Timing, load: Load, prefill: int, decode: int, network_gbps: float
) -> tuple[int, int, float, float] | None:
    """Times with so many replicas for either; nothing where one side cannot carry its part."""
    total = load.calls * (prefill + decode)
    one = timing.prefill_ms(load.prompt, load.cached)
    busy = total / prefill * one / 1e3
    if busy >= FULL:
        return None
    context = load.prompt + load.output / 2
    sequences = _decoding(timing, total / decode, load.output, context)
    if sequences > min(timing.replica.sequences_of(load.prompt + load.output), timing.replica.sequences):
        return None
    tpot = timing.decode_ms(max(sequences, 1.0), context)
    waiting = busy ** ((2 * (prefill + 1)) ** 0.5 - 1) / (prefill * (1 - busy))  # Sakasegawa, for several servers
    queue = waiting * one * (1 + LENGTHS_VARIATION) / 2
    moved = transfer_ms(timing, load.prompt, network_gbps)
    line = min(total / decode * moved / 1e3, 0.999)
    waits = line * moved / (2 * (1 - line))
    ttft = timing.request_ms(load.prompt, 0.0) + one + queue + moved - min(moved, one) * LAYERWISE + waits + tpot
    return prefill, decode, ttft, tpot


def _decoding(timing: Timing, calls: float, output: float, context: float) -> float:
    low, high = 0.0, 65_536.0
    for _ in range(60):
        middle = (low + high) / 2
        wanted = calls * output * timing.decode_ms(max(middle, 1.0), context) / 1e3
        low, high = (middle, high) if wanted > middle else (low, middle)
    return high


def _verdict(
    ttft: float, tpot: float, new_ttft: float, new_tpot: float, moved: float, output: float
) -> tuple[bool, str]:
    before, after = ttft + output * tpot, new_ttft + output * new_tpot
    if after > before:
        return False, f"answers would take {after / before - 1:.0%} longer, {moved:.0f} ms of that for the transfer"
    if new_tpot > tpot * (1 - MARGIN):
        return False, f"further tokens would gain {1 - new_tpot / tpot:.0%}, less than {MARGIN:.0%}"
    if new_ttft > max(2 * ttft, ttft + 200):
        return False, f"the first token would come {new_ttft - ttft:.0f} ms later, {moved:.0f} ms of that the transfer"
    shift = new_ttft - ttft
    when = f"{abs(shift):.0f} ms {'later' if shift > 0 else 'earlier'}"
    return True, f"further tokens gain {1 - new_tpot / tpot:.0%}, the first token comes {when}"
