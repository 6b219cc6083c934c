"""Stay while this pod is joined with the one that leads it, and so long at most. Runs in the pod: standard library.

What is in flight passes through every pod of a replica; the one that leads ends its connections when the last request
has been answered. The kernel is asked and not a name: that goes before its pod does.
"""

import sys
import time
from pathlib import Path

ESTABLISHED = "01"
LOOK_AGAIN_S = 0.5


def joined(port: int, folder: Path = Path("/proc/net")) -> bool:
    """Whether a connection is open to that port of another pod."""
    tables = [table for name in ("tcp", "tcp6") if (table := folder / name).is_file()]  # one without IPv6
    rows = (line.split() for table in tables for line in table.read_text().splitlines()[1:])
    return any(row[2].endswith(f":{port:04X}") and row[3] == ESTABLISHED for row in rows)


def main(port: int, most_s: float) -> None:
    """Come back when it is no longer joined."""
    ends = time.monotonic() + most_s
    while joined(port) and time.monotonic() < ends:
        time.sleep(LOOK_AGAIN_S)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
