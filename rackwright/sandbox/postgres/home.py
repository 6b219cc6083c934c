"""A folder for servers, which goes with them when whoever made it ends, however it ends."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534  # PostgreSQL refuses to run as root
USER = NOBODY if os.getuid() == 0 else os.getuid()
SHORT = "/tmp"  # noqa: S108 - sockets lie in it, whose paths are short, and nobody must get there
ENDED_S = 60
# It reads from us: a line, or the end of our life. A server's processes are killed with it, since one that waits for
# another that is gone would wait for ever; they end a moment later.
SEXTON = """
read -r _
for file in "$1"/*/postmaster.pid; do
  test -f "$file" || continue
  first=$(head -n 1 "$file")
  kill -STOP "$first"
  kill -9 $(cat "/proc/$first/task/$first/children") "$first"
done
for _ in 1 2 3 4 5 6 7 8 9 10; do
  rm -rf "$1" && break
  sleep 0.3
done
"""


@contextmanager
def home() -> Iterator[Path]:
    """A folder that the servers' user may write to. At its end its servers are killed, and it is removed."""
    folder = Path(tempfile.mkdtemp(prefix="rackwright-postgres-", dir=SHORT))
    os.chown(folder, USER, -1)
    folder.chmod(0o755)
    sexton = subprocess.Popen(
        ["sh", "-c", SEXTON, "sh", str(folder)],  # noqa: S607 - any shell
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,  # a key that interrupts us is for us
    )
    try:
        yield folder
    finally:
        sexton.communicate("end\n", timeout=ENDED_S)
