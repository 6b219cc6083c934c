"""Throw-away keys, and how SSH is told of them and of nothing of the user's."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rackwright.guests.needs import path_of
from rackwright.guests.seed import Keys
from rackwright.site.hosts import Host

USER = "root"
SECONDS_TO_CONNECT = 60  # an emulated guest thinks long about a key
SOCKETS = "cp"
LONGEST_SOCKETS = 60  # programs add about 40 to a folder's name, and the system allows 108


@dataclass(frozen=True)
class KeyRing:
    """The keys of one rack, in its folder."""

    folder: Path

    @property
    def key(self) -> Path:
        """The private key that every guest lets in."""
        return self.folder / "key"

    @property
    def known_hosts(self) -> Path:
        """The guests' addresses with the keys that they show."""
        return self.folder / "known_hosts"

    @property
    def sockets(self) -> Path | None:
        """The folder of connections that are kept; None where its name is too long for the system."""
        folder = self.folder / SOCKETS
        return folder if len(str(folder)) <= LONGEST_SOCKETS else None

    def make(self, hosts: Iterable[Host]) -> dict[str, Keys]:
        """Make all keys; what each guest is given of them, by its name."""
        if self.sockets:
            self.sockets.mkdir(mode=0o700)
        authorized = _make(self.key)
        given, known = {}, []
        for host in hosts:
            private = self.folder / f"{host.name}.key"
            public = _make(private)
            given[host.name] = Keys(authorized, private.read_text(), public)
            known.append(f"{host.address} {' '.join(public.split()[:2])}\n")
        self.known_hosts.write_text("".join(known))
        return given

    def options(self) -> list[str]:
        """SSH's options: this key and these hosts alone, and no configuration of the user's."""
        return [
            "-F", "none", "-i", str(self.key), "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none",
            "-o", f"UserKnownHostsFile={self.known_hosts}", "-o", "GlobalKnownHostsFile=none",
            "-o", "StrictHostKeyChecking=yes", "-o", f"ConnectTimeout={SECONDS_TO_CONNECT}", "-o", "BatchMode=yes",
        ]  # fmt: skip

    def kept(self, host: Host) -> list[str]:
        """SSH's options for a connection that the next command finds; a new one takes an emulated guest a second."""
        if self.sockets is None:
            return []
        return [
            "-o", "ControlMaster=auto", "-o", f"ControlPath={self.sockets / str(host.address)}",
            "-o", "ControlPersist=yes", "-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=3",
        ]  # fmt: skip


def close_connections(folder: Path, name: str = "*") -> None:
    """End the connections that are kept for a rack, or one guest's; they write over what processes are found by."""
    for socket in (folder / SOCKETS).glob(name):
        command = [path_of("ssh"), "-F", "none", "-O", "exit", "-o", f"ControlPath={socket}", "guest"]
        subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False)


def _make(file: Path) -> str:
    command = [path_of("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-C", "rehearsal", "-f", str(file)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return file.with_name(f"{file.name}.pub").read_text()
