"""PostgreSQL with the component's settings beside its defaults: pgbench's TPC-B, as each phase runs it.

Run: .venv/bin/python benchmarks/postgres.py [SECONDS] [ROUNDS]
Bound: in phase 2 at least 1.5 times the transactions of the defaults; phase 1's ratio is told.

Phase 1 is one server. Phase 2 is a primary whose commits wait for one of two standbys, and whose log is archived with
zstd, each part as the component sets it, for both alike; all of them share this machine's processors. The store is a
folder. Both kinds run; each gets short turns, one after the other, and the median of the pairs' ratios counts, so that
whatever else the machine does hits both. Before, each has done as many transactions as its table has pages: a server's
life, not its first minute. The data are larger than the default buffers and smaller than ours, as those of a server are
whose memory the site chose for them. Each client sends a transaction whole (the program's own script as a pipeline), so
that it is the server that works and not the client beside it, which in a rack has processors of its own.

Why the ratio is another in each phase: with the settings the log is an eighteenth of the bytes. A single
server has little of it on a drive like this one's, where a commit takes 0.13 to 0.26 ms and processors never wait. What
is written once there, phase 2 sends twice, writes three times, replays twice and packs. See docs/data.md.
"""

import json
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT)]

from components.postgres.objects import SYNCHRONOUS  # noqa: E402
from components.postgres.parameters import parameters  # noqa: E402
from rackwright.sandbox.postgres import USER, Server, home, programs  # noqa: E402
from rackwright.site.hosts import Phase  # noqa: E402
from rackwright.site.postgresql import Postgresql  # noqa: E402

SCALE = 100  # of pgbench: 100,000 accounts each, 1.5 GB in all
PAGES = SCALE * 1640  # of its accounts
CLIENTS = 64
WANTED = Postgresql(size_gb=100, wal_size_gb=40, memory_gib=8, cores=2, connections=100)
BOUND = 1.5
KINDS: Mapping[str, Mapping[str, str]] = {
    "defaults": {},
    # The operator's image has the library that these few are for.
    "ours": {name: value for name, value in parameters(WANTED).items() if not name.startswith("pg_stat_statements")},
}


class Cluster:
    """A primary with the standbys of a phase, filled and warm, and the script that it is asked with."""

    def __init__(self, folder: Path, place: Path, kind: str, phase: Phase) -> None:
        spread = WANTED.in_phase(phase)
        names = [f"{kind}-{phase}-standby-{number}" for number in range(1, spread.instances)]
        how = {**KINDS[kind], **(_durable(place, kind, names) if spread.synchronous else {})}
        self.primary = Server(folder, place, f"{kind}-{phase}", how)
        self.standbys = [Server(folder, place, name, KINDS[kind]) for name in names]
        self.script = place / "tpcb.sql"
        self.script.write_text(_pipelined(folder))
        self._fill()

    def _fill(self) -> None:
        self.primary.make()
        self.primary.start()
        for standby in self.standbys:
            standby.copy(self.primary)
            standby.start()
        self.primary.run("pgbench", "--initialize", "--quiet", "-s", str(SCALE), "postgres")
        self.transactions("-t", str(PAGES // CLIENTS))

    def transactions(self, *bounds: str) -> float:
        """Transactions a second of one turn."""
        how = ("-c", str(CLIENTS), "-j", "2", "-s", str(SCALE), "--protocol=prepared", "--no-vacuum")
        said = self.primary.run("pgbench", *how, "-f", self.script, *bounds, "postgres")
        found = re.search(r"tps = ([\d.]+)", said)
        return float(found.group(1)) if found else sys.exit(said)

    def written(self) -> int:
        """Bytes of write-ahead log since the server was made."""
        return int(self.primary.sql("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn"))

    def discard(self) -> None:
        """End all of it; standbys last, since a primary's end waits for them."""
        for server in (self.primary, *self.standbys):
            server.discard()


def _durable(place: Path, kind: str, standbys: list[str]) -> dict[str, str]:
    """What makes a commit wait for a standby, and the log be kept elsewhere."""
    archive = place / f"{kind}-archive"
    archive.mkdir()
    shutil.chown(archive, USER)
    names = ", ".join(f'"{name}"' for name in standbys)
    return {
        "synchronous_standby_names": f"{str(SYNCHRONOUS['method']).upper()} {SYNCHRONOUS['number']} ({names})",
        "archive_mode": "on",
        "archive_command": f"zstd --quiet --force -o {archive}/%f.zst %p",
    }


def _pipelined(folder: Path) -> str:
    """The program's own TPC-B, each transaction sent whole."""
    shown = [str(folder / "pgbench"), "--show-script=tpcb-like"]
    script: str = subprocess.run(shown, capture_output=True, text=True, check=True).stderr
    return script.replace("BEGIN;", "\\startpipeline\nBEGIN;").replace("END;", "END;\n\\endpipeline")


def measure(phase: Phase, seconds: int, rounds: int) -> dict[str, Any]:
    """Both kinds, filled and warmed alike, turn after turn."""
    with home() as place:
        folder = programs(place)
        if folder is None:
            sys.exit("There is no PostgreSQL of the pinned major; RACKWRIGHT_POSTGRES names its bin folder.")
        clusters = {kind: Cluster(folder, place, kind, phase) for kind in KINDS}
        turns: dict[str, list[float]] = {kind: [] for kind in KINDS}
        before = {kind: cluster.written() for kind, cluster in clusters.items()}
        for _ in range(rounds):
            for kind, cluster in clusters.items():
                turns[kind].append(cluster.transactions("-T", str(seconds)))
            print(phase, {kind: round(found[-1]) for kind, found in turns.items()}, file=sys.stderr)
        log = {kind: cluster.written() - before[kind] for kind, cluster in clusters.items()}
        for cluster in clusters.values():
            cluster.discard()
    ratios = [ours / defaults for defaults, ours in zip(turns["defaults"], turns["ours"], strict=True)]
    return {
        "turns": {kind: [round(each) for each in found] for kind, found in turns.items()},
        "log_bytes_a_transaction": {kind: round(log[kind] / (sum(turns[kind]) * seconds)) for kind in KINDS},
        "ratio": round(statistics.median(ratios), 2),
    }


def main() -> None:
    """Measure, say it, and fail below the bound."""
    seconds, rounds = (int(each) for each in (*sys.argv[1:], *("15", "9")[len(sys.argv) - 1 :]))
    if not shutil.which("zstd"):
        sys.exit("There is no zstd, which packs the log; install it.")
    began = time.monotonic()
    phases = {f"phase{phase}": measure(phase, seconds, rounds) for phase in get_args(Phase)}
    print(json.dumps({**phases, "bound": BOUND, "turn_s": seconds, "took_s": round(time.monotonic() - began)}))
    sys.exit(phases["phase2"]["ratio"] < BOUND)


if __name__ == "__main__":
    main()
