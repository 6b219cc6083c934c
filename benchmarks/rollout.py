"""The rollout's figures: planning, going on after a kill, and how long writes are refused in the cut-over.

Run: .venv/bin/python benchmarks/rollout.py [ROUNDS]
Bounds: planning of a site at most 1 s; going on after kill -9 to the right step at most 5 s, without the start of the
command; writes refused at most 10 s, by two real PostgreSQL servers and three applications that write, none lost.
Machines and clusters are played, so what a real look at them takes is not in it.
"""

import itertools
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "rollout")]

from local_pair import DATABASES, LocalPair, writer_of  # noqa: E402 - beside the tests that it is made for
from played_world import PlayedWorld, Ticks, in_child, lab  # noqa: E402

from rackwright.rollout.plan import plan  # noqa: E402
from rackwright.rollout.postgres.acts import Copy, CutOver, FollowBack  # noqa: E402
from rackwright.sandbox.postgres import Server, home, programs  # noqa: E402

BOUNDS = {"planning_s": 1.0, "going_on_s": 5.0, "refused_s": 10.0, "lost": 0}
TABLE = "CREATE TABLE kept (writer int, row int); GRANT ALL ON kept TO app;"


def planning(rounds: int) -> float:
    """Seconds, the median."""
    site, found = lab(), []
    for _ in range(rounds):
        began = time.perf_counter()
        plan(site).text()
        found.append(time.perf_counter() - began)
    return statistics.median(found)


def going_on(rounds: int) -> float:
    """Seconds from the start to the first word of the step that was killed, the worst."""
    found = []
    for number in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            world = PlayedWorld(Path(folder), lab(), ticks=Ticks(60 + 10 * number))
            in_child(world.run)
            killed = len(world.done())
            again = PlayedWorld(Path(folder), lab())
            began = time.perf_counter()
            runner = again.runner()
            first: list[float] = []

            def hear(_: str, first: list[float] = first) -> None:
                first.append(time.perf_counter())

            runner.progress = hear
            runner.__post_init__()
            runner.run()
            assert len(again.done()) > killed
            found.append(first[0] - began)
    return max(found)


def cut_overs(rounds: int) -> tuple[list[float], int]:
    """Seconds of refused writes, by what applications saw, there and back each round; and rows that were lost."""
    with home() as place:
        folder = programs(place) or sys.exit("PostgreSQL is not to be had: RACKWRIGHT_POSTGRES names its bin folder")
        first, second = (Server(folder, place, name, {"max_connections": "40"}) for name in ("phase-1", "phase-2"))
        first.make()
        pair = LocalPair(first, second)
        first.start()
        first.sql("CREATE ROLE app LOGIN")
        for name in DATABASES:
            first.sql(f"CREATE DATABASE {name}")
            pair.old.sql(TABLE, name)
        Copy(pair).do()
        writers, pauses = [writer_of(pair, number) for number in range(3)], []
        for _ in range(rounds):
            cut_over = CutOver(pair, DATABASES)
            for act in (cut_over.do, cut_over.undo):
                if act == cut_over.undo:
                    FollowBack(pair).do()
                begun = [len(writer.at) for writer in writers]
                act()
                while any(len(writer.at) < n + 20 for writer, n in zip(writers, begun, strict=True)):
                    time.sleep(0.05)
                for writer, n in zip(writers, begun, strict=True):
                    at = writer.at[max(0, n - 1) :]
                    pauses.append(max(b - a for a, b in itertools.pairwise(at)))
        for writer in writers:
            writer.end()
        told = {(writer.number, row) for writer in writers for row in writer.told}
        lines = pair.old.sql("SELECT writer || ' ' || row FROM kept", "app").splitlines()
        kept = {tuple(map(int, line.split())) for line in lines}
        return pauses, len(told - kept)


def measure(rounds: int) -> dict[str, Any]:
    """Everything, beside its bounds."""
    pauses, lost = cut_overs(rounds)
    found: dict[str, Any] = {"planning_s": planning(20), "going_on_s": going_on(rounds), "refused_s": max(pauses)}
    found |= {"refused_median_s": statistics.median(pauses), "lost": lost}
    return found | {"within": all(found[name] <= bound for name, bound in BOUNDS.items())}


if __name__ == "__main__":
    result = measure(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
    print(
        json.dumps(
            {name: value if isinstance(value, bool) else round(value, 4) for name, value in result.items()}
            | {"bounds": BOUNDS},
            indent=2,
        )
    )
    sys.exit(0 if result["within"] else 1)
