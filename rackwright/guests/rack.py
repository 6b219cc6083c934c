"""A site's machines, or some of them, booted and cabled on this machine for as long as they are needed."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rackwright.errors import Refusal
from rackwright.guests import image, machine, namespace, needs
from rackwright.guests.ansible import Ansible, Ran
from rackwright.guests.cabling import cabling
from rackwright.guests.guest import Ground, Guest
from rackwright.guests.hardware import Size
from rackwright.guests.keys import KeyRing, close_connections
from rackwright.guests.namespace import Namespace
from rackwright.guests.site_copy import as_booted, lay_out
from rackwright.sandbox import disk, interruption, leftovers
from rackwright.sandbox.locks import Progress, silence
from rackwright.sandbox.tools import cache_folder
from rackwright.sandbox.tools.cache import need_room
from rackwright.site.hosts import Host
from rackwright.site.reading.nearest import nearest
from rackwright.site.site import Site

GIGABYTES = 1.5  # what playbooks write to the drives of one


def parent_folder() -> Path:
    """Where every rack has its folder."""
    return cache_folder() / "racks"


class Rack:
    """Guests by their hosts' names, and the network between them; gone when the block ends."""

    def __init__(
        self,
        site_folder: Path,
        names: Sequence[str],
        *,
        size: Size | None = None,
        keep: bool = False,
        own_kubeconfigs: bool = False,
        progress: Progress = silence,
    ) -> None:
        self.name = f"metal-{secrets.token_hex(3)}"
        self.folder = parent_folder() / self.name
        self.site_folder = self.folder / "site"
        self.wished = Site.load(site_folder)
        self.site = as_booted(self.wished)
        self.hosts = tuple(_hosts(self.site, names))
        self.size = size or Size()
        self.keep = keep
        self.guests: dict[str, Guest] = {}
        self._progress = progress
        self._leaving = ExitStack()
        self._is_up = False  # one that was stopped while it came up is not kept
        cabled = cabling(self.site, self.hosts)
        self.taps = {tap.network: tap for tap in cabled.taps}
        self.namespace = Namespace(self.folder, cabled, stays=keep)
        self.keys = KeyRing(self.folder)
        self.runner = Ansible(self.site_folder, self.namespace, self.keys)
        self._sockets = cabled.sockets
        self._site_folder = site_folder
        self.kubeconfigs = self.folder / "kube" if own_kubeconfigs else None

    @staticmethod
    def kept() -> list[str]:
        """The names of those that were kept and still run."""
        return [folder.name for folder in leftovers.kept(parent_folder())]

    @staticmethod
    def end(name: str) -> None:
        """End one that was kept."""
        with interruption.postponed():
            close_connections(parent_folder() / name)
            leftovers.clear(parent_folder() / name)

    def __enter__(self) -> Self:
        needs.demand_to_boot()
        namespace.demand()
        machine.demand_memory(self.hosts, self.size, machine.free_mib())
        made = image.ensure(self._progress)
        need_room([parent_folder()], GIGABYTES * len(self.hosts), f"Booting {len(self.hosts)} guests")
        with ExitStack() as entering, disk.written(self.folder):
            entering.enter_context(interruption.heeded())
            for name in leftovers.sweep(parent_folder()):
                self._progress(f"Cleared {name}, whose owner is gone.")
            entering.callback(os.close, leftovers.take(self.folder))
            entering.callback(self._leave)
            self._boot(made)
            self._is_up = True
            self._leaving = entering.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leaving.close()

    def __getitem__(self, name: str) -> Guest:
        return self.guests[name]

    def run(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Run a command where the guests are reached at their own addresses."""
        return self.namespace.run(command)

    def ansible(
        self,
        playbook: str | Path,
        *options: str,
        limit: Sequence[str] = (),
        variables: Mapping[str, Any] | None = None,
        progress: Progress | None = None,
    ) -> Ran:
        """Run a playbook with the site's own inventory, on the guests that there are."""
        return self.runner.playbook(
            playbook,
            *options,
            limit=limit or tuple(self.guests),
            variables=variables,
            progress=progress or self._progress,
        )

    def serve(self, folder: Path, port: int = 8080) -> str:
        """Serve a folder by HTTP to all guests, as long as the rack is there; its address."""
        address = self.taps["nodes"].address.ip
        log = self.folder / f"serving-{port}.log"
        command = [sys.executable, "-m", "http.server", "--directory", str(folder), "--bind", str(address), str(port)]
        serving = self.namespace.begin(command, log)
        while not self._listens(port):
            if serving.poll() is not None:
                raise Refusal(f"{folder} cannot be served: {log.read_text(errors='replace')[-300:]}", "Mend that.")
            time.sleep(0.1)
        return f"http://{address}:{port}"

    def ways_in(self) -> dict[str, str]:
        """A command by host that opens a shell in it."""
        inside = self.namespace.entering(ends_with_us=False)
        return {name: _shell([*inside, *guest.shell()]) for name, guest in self.guests.items()}

    def _boot(self, made: image.Image) -> None:
        how = machine.accelerator()
        self._progress(f"Booting {', '.join(host.name for host in self.hosts)} ({_spelled(how)}).")
        lay_out(self._site_folder, self.site_folder, self.kubeconfigs)
        given = self.keys.make(self.hosts)
        self.namespace.start()
        ground = Ground(self.site, made, self.namespace, self.keys, self._sockets, how, self._progress)
        for host in self.hosts:
            guest = self.guests[host.name] = Guest(ground, host, self.size, self.folder / host.name)
            guest.make(given[host.name])
            guest.start()
        for guest in self.guests.values():
            guest.wait()
            self._progress(f"{guest.name} is up.")

    def _listens(self, port: int) -> bool:
        sockets = self.run(["cat", "/proc/self/net/tcp"]).stdout
        return any(line.split()[1].endswith(f":{port:04X}") for line in sockets.splitlines()[1:])

    def _leave(self) -> None:
        if self.keep and self._is_up:
            leftovers.keep(self.folder)
            return
        with interruption.postponed():
            close_connections(self.folder)
            leftovers.clear(self.folder)


def _hosts(site: Site, names: Sequence[str]) -> Iterator[Host]:
    known = {host.name: host for host in site.hosts}
    for name in dict.fromkeys(names):
        if name not in known:
            hint = nearest(name, list(known))
            raise Refusal(f"The site {site.name} has no host {name}.", f"{hint[0].upper()}{hint[1:]}.")
        yield known[name]


def _spelled(accelerator: str) -> str:
    return "KVM" if accelerator == "kvm" else "emulated: about half a minute each where nothing else runs"


def _shell(words: Sequence[str]) -> str:
    return " ".join(words)
