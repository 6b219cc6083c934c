"""A stand-in for kubectl where a pod would be entered, which nobody can here; everything else the real one does.

`psql` in a pod leads to the socket of a server of this machine, a way to a pod's port to an address of this machine.
"""

import shlex
from collections.abc import Sequence
from pathlib import Path

from rackwright.sandbox.postgres import Server

PSQL = """
words=()
for word in "$@"; do
  case "$word" in
    psql) words=({psql} --host={sockets});;
    *) words+=("$word");;
  esac
done
case "${{words[0]}}" in
  */psql) exec "${{words[@]}}";;
esac
"""
FORWARD = """
for word in "$@"; do
  if [ "$word" = port-forward ]; then
    echo "Forwarding from {address} -> {port}"
    exec sleep infinity
  fi
done
"""


def stand_in(
    file: Path, kubectl: Sequence[str], *, server: Server | None = None, store: tuple[str, int] | None = None
) -> Path:
    """The program; `kubectl` is the real one with its kubeconfig, `store` an address and the port that it plays."""
    parts = ["#!/bin/bash"]
    if server is not None:
        psql, sockets = shlex.quote(str(server.programs / "psql")), shlex.quote(str(server.sockets))
        parts.append(PSQL.format(psql=psql, sockets=sockets))
    if store is not None:
        parts.append(FORWARD.format(address=store[0], port=store[1]))
    parts.append(f'exec {shlex.join(kubectl)} "$@"\n')
    file.write_text("\n".join(parts))
    file.chmod(0o700)
    return file
