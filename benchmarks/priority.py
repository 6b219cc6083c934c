"""What batch costs people: time to the first token of interactive requests with and without a pool full of batch.

    RACKWRIGHT_PICKER=.../epp RACKWRIGHT_INFERENCE_SIM=.../llm-d-inference-sim python benchmarks/priority.py [--seeds N]

Real are the picker, its objectives out of a real Kubernetes API, and Envoy, as the components tell them; simulated are
the replicas (benchmarks/simulated_rack.py), which know no priority of their own: what is seen is the router's part. An
engine with priority scheduling adds its own. People come at random, as many as fill some of the places; batch calls
again as soon as it is answered, by more callers than there are places. One run; the ratio counts.
"""

import argparse
import asyncio
import os
import random
import sys
import tempfile
from pathlib import Path

import httpx
from cluster_rack import ClusterRack
from simulated_rack import MODEL, PLACES, ProgramMissingError
from traces import Seen, call, words

from rackwright.sandbox import tools
from rackwright.sandbox.control_plane import ControlPlane

REPLICAS = 4
BOUND = 1.5
PROMPT, ANSWER = 1000, 100  # tokens
CALLS, A_SECOND = 240, 6.0  # people's calls: about 2.5 s each, so some 15 of the 64 places are theirs
BATCH_CALLERS = 2 * REPLICAS * PLACES


def main() -> None:
    """Run both, and print what was seen and whether it is what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    seeds = range(1, parser.parse_args().seeds + 1)
    try:
        with tempfile.TemporaryDirectory() as folder:
            fulfilled = [_compare(Path(folder) / str(seed), seed) for seed in seeds]
    except ProgramMissingError as missing:
        sys.exit(f"{missing}.")
    print(f"asked for: P95 of people's first token at most {BOUND} of what it is without batch")
    sys.exit(0 if all(fulfilled) else 1)


def _compare(folder: Path, seed: int) -> bool:
    print(f"\nseed {seed}, load of the machine {os.getloadavg()[0]:.1f}", flush=True)
    seen = {}
    for name, callers in (("alone", 0), ("with batch", BATCH_CALLERS)):
        with ControlPlane(tools.ensure(tools.REHEARSAL)) as cluster:
            rack = ClusterRack(folder / name.replace(" ", "-"), REPLICAS, seed, cluster=cluster)
            with rack:
                seen[name], batch = asyncio.run(_run(rack, seed, callers))
        print(_line(name, seen[name], batch), flush=True)
    ratio = seen["with batch"].first(95) / seen["alone"].first(95)
    print(f"  P95 of the first token: {ratio:.2f} of what it is alone")
    return ratio <= BOUND and not any(each.failed for each in seen.values())


async def _run(rack: ClusterRack, seed: int, callers: int) -> tuple[Seen, Seen]:
    """People's calls, and batch's beside them from some time before the first until the last is answered."""
    people, batch, over = Seen(), Seen(), asyncio.Event()
    async with rack.client("interactive") as before, rack.client("batch") as behind:
        waiting = [asyncio.create_task(_again(behind, f"batch-{n}", batch, over)) for n in range(callers)]
        while callers and len(batch.whole_s) < callers:  # until the places are as full as batch may make them
            await asyncio.sleep(0.2)
        await _come(before, random.Random(seed), people)
        over.set()
        await asyncio.gather(*waiting)
    return people, batch


async def _come(client: httpx.AsyncClient, dice: random.Random, seen: Seen) -> None:
    """Calls that do not wait for each other."""
    calls = []
    for number in range(CALLS):
        await asyncio.sleep(dice.expovariate(A_SECOND))
        text = words(f"person-{number}", PROMPT)
        calls.append(asyncio.create_task(call(client, MODEL.name, text, ANSWER, f"person-{number}", seen)))
    await asyncio.gather(*calls)


async def _again(client: httpx.AsyncClient, name: str, seen: Seen, over: asyncio.Event) -> None:
    """One caller of batch; who is told to come again later does."""
    number = 0
    while not over.is_set():
        refused = sum(seen.failed.values())
        await call(client, MODEL.name, words(f"{name}-{number}", PROMPT), 4 * ANSWER, name, seen)
        number += 1
        if sum(seen.failed.values()) > refused:
            await asyncio.sleep(1)


def _line(name: str, people: Seen, batch: Seen) -> str:
    first = " ".join(f"{people.first(share):6.3f}" for share in (50, 95, 99))
    failed = ", ".join(f"{count} x {what}" for what, count in people.failed.items()) or "none"
    return (
        f"  {name:10} first token P50 P95 P99 {first} s; {len(people.first_token_s)} answered, failed: {failed}; "
        f"batch: {len(batch.whole_s)} answered, told to come again: {sum(batch.failed.values())}"
    )


if __name__ == "__main__":
    main()
