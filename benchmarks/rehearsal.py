"""A warm rehearsal, from the command to its report, in seconds: of phase 1, or of the whole rollout.

Run: .venv/bin/python benchmarks/rehearsal.py [SITE]
     .venv/bin/python benchmarks/rehearsal.py rollout [SITE]
Bounds: phase 1 of the example at most 60 s, the faster of two runs, since others slow one and nothing speeds it up; the
first also warms what a first run warms (tools built, modules compiled). The rollout of the lab at most 300 s in one
run, nothing of its data lost, and writes refused for at most 10 s. Prints one line of JSON; exit 1 where a bound is
missed, or could not be measured.
"""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PHASE, ROLLOUT = ("rehearse",), ("rollout", "rehearse")
SITES = {PHASE: "inventory/example", ROLLOUT: "inventory/lab"}
BOUNDS_S = {PHASE: 60.0, ROLLOUT: 300.0}
RUNS = {PHASE: 2, ROLLOUT: 1}
LOST, REFUSED_S = 0, 10.0
WHY = ("what", "refused", "left", "data", "death")  # of a report, where it failed


def run(kind: Sequence[str], site: str) -> tuple[float, dict[str, Any]]:
    """One rehearsal as a user starts it: seconds from the command's start to its end, and its report."""
    command = [str(ROOT / "bin" / "rackwright"), *kind, site, "--json"]
    began = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    seconds = time.monotonic() - began
    report = json.loads(done.stdout or "{}")
    if done.returncode:
        print(json.dumps({"site": site, "seconds": round(seconds, 1)} | {key: report.get(key) for key in WHY}))
        sys.exit(f"The rehearsal failed (exit code {done.returncode}); its words stand above.")
    return seconds, report


def is_kept(store: dict[str, Any]) -> bool:
    """Whether something was written to a kind of store, and its bounds are held."""
    return store["written"] > 0 and store["lost"] <= LOST and store["refused_s"] <= REFUSED_S


def main(*arguments: str) -> int:
    """Run it, and say what it came to beside what it may."""
    kind = ROLLOUT if arguments[:1] == ("rollout",) else PHASE
    site = (*arguments[kind == ROLLOUT :], SITES[kind])[0]
    seconds, report = min((run(kind, site) for _ in range(RUNS[kind])), key=lambda each: each[0])
    found = {"site": site, "seconds": round(seconds, 1), "bound": BOUNDS_S[kind], "steps": report["seconds"]}
    is_within = seconds <= BOUNDS_S[kind]
    if kind == ROLLOUT:
        data, without = report["data"], report["without"]
        found |= {"data": data, "bounds_of_data": {"lost": LOST, "refused_s": REFUSED_S}, "without": without}
        is_within = is_within and not without and all(map(is_kept, data))
    print(json.dumps(found))
    return int(not is_within)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
