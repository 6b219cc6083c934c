"""The closed loop that a measurement ran, on its replica."""

from functools import lru_cache

from rackwright.capacity.closed_loop import Room, Schedule, schedule
from rackwright.capacity.deployment import Deployment
from rackwright.capacity.measurements import Measurement

ENOUGH = float("inf")


def run_of(row: Measurement) -> Schedule:
    """The schedule of a measurement's run."""
    return closed_loop(row.replica, row.prompt, row.output, row.concurrency)


def closed_loop(replica: Deployment, prompt: int, output: int, concurrency: int) -> Schedule:
    """The schedule of a closed loop on a replica; what does not hold it back is left out, so that runs are shared."""
    ranks = replica.data_parallel * replica.pipeline_parallel
    longest = float(prompt + output)
    tokens = replica.sequences_of(longest) * longest * replica.data_parallel
    room = Room(
        step_tokens=replica.step_tokens * ranks,
        sequences=min(replica.sequences * replica.data_parallel, concurrency),
        cache_tokens=ENOUGH if tokens >= concurrency * longest else tokens,
    )
    return _shared(prompt, output, concurrency, room)


@lru_cache(maxsize=256)
def _shared(prompt: int, output: int, concurrency: int, room: Room) -> Schedule:
    return schedule(prompt, output, concurrency, room)
