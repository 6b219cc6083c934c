"""What the router is worth: time to the first token through the picker, beside turns and beside hashed sessions.

    RACKWRIGHT_PICKER=.../epp RACKWRIGHT_INFERENCE_SIM=.../llm-d-inference-sim python benchmarks/routing.py [--seeds N]

Real are the picker and Envoy, as the components tell them; simulated are the replicas (benchmarks/simulated_rack.py).
Ratios count: all ways go through the same proxy to the same replicas in the same run; of several seeds their median,
since one run's P95 moves by some hundredths. Every failed request is counted and said, so that a fallback cannot pass
for success.
"""

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from simulated_rack import MODEL, ProgramMissingError, Rack
from traces import Seen, Session, agents, hot_session, play, short_sessions

WAYS = (MODEL.name, "turns", "hashed")
AT_ONCE = 32
LOADS: dict[str, Callable[[int, int], list[Session]]] = {
    "agents": agents,
    "short sessions on eight documents": short_sessions,
    "a hot session among agents": hot_session,
    "agents, and a replica dies": agents,
    "agents, and a replica comes": agents,
}
# Where a replica comes, each session that is sent to it has its prompt computed anew once: few calls of many.
TAIL = {"agents, and a replica comes": 99}
AFTER_S = 20
MOST_OF_TURNS, MOST_OF_HASHED = 0.25, 1.0


def main() -> None:
    """Run every load by every way, and print what was seen and whether it is what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--sessions", type=int, default=60)
    parser.add_argument("--load", choices=LOADS, action="append", help="one of them alone; may be given again")
    asked = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as folder:
            fulfilled = [_load(Path(folder), name, asked.seeds, asked.sessions) for name in asked.load or LOADS]
    except ProgramMissingError as missing:
        sys.exit(f"{missing}.")
    print(
        "asked for: first token at most 1/4 of turns with agents, and no more than hashed sessions' with each load"
        " (P95; P99 where a replica comes); no more refused than by others where a replica dies"
    )
    sys.exit(0 if all(fulfilled) else 1)


def _load(folder: Path, name: str, seeds: int, sessions: int) -> bool:
    """One load with every seed, and whether it is what is asked for."""
    runs = [_compare(folder / f"{name}-{seed}", name, seed, sessions) for seed in range(1, seeds + 1)]
    failed = [{way: sum(each.failed.values()) for way, each in seen.items()} for seen in runs]
    if name.endswith("dies"):
        # What ran there is cut by every way; who is sent there afterwards is refused by the others.
        return all(each[MODEL.name] <= min(each["turns"], each["hashed"]) for each in failed)
    tail = TAIL.get(name, 95)
    of_turns, of_hashed = (statistics.median(_ratio(seen, way, tail) for seen in runs) for way in ("turns", "hashed"))
    print(
        f"  P{tail} of the first token, median of {seeds}: {of_turns:.2f} of turns, {of_hashed:.2f} of hashed sessions"
    )
    enough = of_turns <= MOST_OF_TURNS or name != "agents"
    return not any(each[MODEL.name] for each in failed) and enough and of_hashed <= MOST_OF_HASHED


def _compare(folder: Path, name: str, seed: int, sessions: int) -> dict[str, Seen]:
    """One load with one seed by every way."""
    print(f"\n{name}, seed {seed}, {sessions} sessions, load of the machine {os.getloadavg()[0]:.1f}")
    seen = {way: _one(folder / way, way, name, LOADS[name](seed, sessions), seed) for way in WAYS}
    for way, each in seen.items():
        print(_line("picker" if way == MODEL.name else way, each))
    return seen


def _ratio(seen: dict[str, Seen], way: str, share: int) -> float:
    """The first token's time by the picker, which so many in a hundred keep, of what it is by another way."""
    return seen[MODEL.name].first(share) / seen[way].first(share)


def _one(folder: Path, way: str, name: str, sessions: Sequence[Session], seed: int) -> Seen:
    """Replicas of its own for each, since caches remember; of one load, one dies or comes in the middle."""

    async def happens(rack: Rack) -> None:
        await asyncio.sleep(AFTER_S)
        if name.endswith("dies"):
            rack.simulated[rack.ports[0]].kill()
        if name.endswith("comes"):
            await asyncio.to_thread(rack.complete)

    async def run(rack: Rack) -> Seen:
        async with rack.client() as client:
            beside = asyncio.create_task(happens(rack))
            seen = await play(client, way, sessions, at_once=AT_ONCE)
            await beside
            return seen

    with Rack(folder, late=int(name.endswith("comes")), seed=seed) as rack:
        return asyncio.run(run(rack))


def _line(way: str, seen: Seen) -> str:
    first = " ".join(f"{seen.first(share):6.3f}" for share in (50, 95, 99))
    failed = ", ".join(f"{count} x {what}" for what, count in seen.failed.items()) or "none"
    return (
        f"  {way:8} first token P50 P95 P99 {first} s; whole P95 {seen.whole(95):5.2f} s; token P95 "
        f"{1000 * seen.per_token(95):4.1f} ms; busiest {seen.uneven:.2f} of average; "
        f"{len(seen.first_token_s)} answered, failed: {failed}"
    )


if __name__ == "__main__":
    main()
