"""How long the reckoning takes, in seconds of processor time, and how much memory: python benchmarks/capacity.py."""

import resource
import time
from collections.abc import Callable
from pathlib import Path

from rackwright.capacity.calls import PATTERNS
from rackwright.capacity.closed_loop import Room, schedule
from rackwright.capacity.population import Population
from rackwright.capacity.replicas import replica_of
from rackwright.capacity.simulation import simulate
from rackwright.capacity.site_plan import plan
from rackwright.capacity.timing import Timing
from rackwright.capacity.verification import verify
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[1]
RUNS = ROOT / "tests" / "fixtures" / "capacity" / "vllm_calibration.csv"


def main() -> None:
    """Run each once and print what it took beside what it may take."""
    site = Site.load(ROOT / "inventory" / "lab")
    timing = Timing(replica_of("meta-llama/Llama-3.3-70B", "h100_sxm", precision="fp8", tensor_parallel=4))
    agents = Population(0, 200, 20, PATTERNS["react"].scaled(8), 4000, 400)
    work: tuple[tuple[str, float, Callable[[], object]], ...] = (
        ("plan of a site, formulas", 1, lambda: plan(site)),
        ("plan of a site, with tails", 5, lambda: plan(site, with_tails=True)),
        ("an hour of 200 agents on 2 replicas", 10, lambda: simulate(timing, 2, agents)),
        ("an hour of 200 agents on 8 replicas", 10, lambda: simulate(timing, 8, agents)),
        ("270 measurements verified", 10, lambda: verify(RUNS)),
        ("100,000 steps of a replica", 2, lambda: [timing.step_ms(64, 64 * 4000 + n, 0, 0) for n in range(100_000)]),
        ("a closed loop of 5,120 requests", 2, lambda: schedule(8192, 1024, 512, Room(cache_tokens=1e6))),
    )
    for name, allowed, function in work:
        began = time.process_time()
        function()
        print(f"{time.process_time() - began:7.2f} s of {allowed:3g}  {name}")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{memory:7.0f} MB of 300, at the most")


if __name__ == "__main__":
    main()
