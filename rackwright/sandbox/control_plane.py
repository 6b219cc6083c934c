"""A real Kubernetes API on this machine, for as long as it is needed."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from ipaddress import IPv4Address
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml

from rackwright.errors import Refusal
from rackwright.sandbox import disk, interruption, kwok, leftovers, ports, stages
from rackwright.sandbox.kubectl import Kubectl
from rackwright.sandbox.locks import Progress, silence
from rackwright.sandbox.tools import Toolbox, cache_folder

ATTEMPTS = 3


def parent_folder() -> Path:
    """Where every control plane has its folder."""
    return cache_folder() / "control-planes"


class ControlPlane:
    """API server, scheduler, controllers and the Stages that play machines and operators; gone when the block ends."""

    def __init__(
        self,
        toolbox: Toolbox,
        *,
        storage_classes: Sequence[str] = stages.STORAGE_CLASSES,
        load_balancer_address: IPv4Address | str = stages.LOAD_BALANCER_ADDRESS,
        networks: kwok.Networks = kwok.NETWORKS,
        port: int | None = None,
        keep: bool = False,
        progress: Progress = silence,
    ) -> None:
        self.name = f"rehearsal-{secrets.token_hex(4)}"
        self.folder = parent_folder() / self.name
        self.kubeconfig = self.folder / "kubeconfig"
        self.stages = stages.objects(storage_classes, load_balancer_address)
        self.kubectl = Kubectl(toolbox["kubectl"].path, self.kubeconfig)
        self.keep = keep
        self._toolbox = toolbox
        self._networks = networks
        self._port = port
        self._progress = progress
        self._leaving = ExitStack()

    @staticmethod
    def kept() -> list[str]:
        """The names of those that were kept and still run."""
        return [folder.name for folder in leftovers.kept(parent_folder())]

    @staticmethod
    def end(name: str) -> None:
        """End one that was kept; a Refusal if there is none of that name."""
        kept = ControlPlane.kept()
        if name not in kept:
            there = f"These run: {', '.join(kept)}." if kept else "None runs."
            raise Refusal(f"No control plane called {name} was kept.", there)
        with interruption.postponed():
            leftovers.clear(parent_folder() / name)

    def __enter__(self) -> Self:
        with ExitStack() as entering, disk.written(self.folder):
            entering.enter_context(interruption.heeded())
            for name in leftovers.sweep(parent_folder()):
                self._progress(f"Cleared {name}, whose owner is gone.")
            if self._port:
                ports.demand(self._port)
            entering.callback(os.close, leftovers.take(self.folder))
            entering.callback(self._leave)
            self._start()
            self._leaving = entering.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leaving.close()

    def apply(self, objects: Iterable[Mapping[str, Any]]) -> None:
        """Make all objects so, by server-side apply in one call."""
        self.kubectl.apply(objects)

    def delete_node(self, name: str) -> None:
        """Take a machine away as if its power were gone, and its pods, which controllers would miss in a minute."""
        self.kubectl.delete("node", name)
        there = f"--field-selector=spec.nodeName={name}"
        self.kubectl("delete", "pods", "--all-namespaces", there, "--force", "--grace-period=0", "--ignore-not-found")

    def snapshot(self, folder: Path) -> None:
        """Copy everything that the cluster knows into a new folder; it stands still for some seconds."""
        self._halted(lambda: shutil.copytree(kwok.data(self.folder), folder))

    def restore(self, folder: Path) -> None:
        """Make the cluster what it was when a snapshot was taken."""
        self._halted(lambda: self._replace_data(folder))

    def _start(self) -> None:
        self._progress("Starting the control plane.")
        for attempt in range(1, ATTEMPTS + 1):
            port = self._port or ports.free(1)[0]
            try:
                kwok.start(self.folder, self._toolbox, kwok.configuration(self._toolbox, port, self._networks))
                break
            except kwok.PortTaken as error:
                if attempt == ATTEMPTS or self._port:
                    raise Refusal(
                        f"A port of {error} was taken by another program while it started.", "Run this again."
                    ) from error
                leftovers.empty(self.folder)
        with os.fdopen(os.open(self.kubeconfig, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            yaml.safe_dump(kwok.kubeconfig(self.folder, self.name, port), file)
        self.kubectl.apply(self.stages)

    def _leave(self) -> None:
        if self.keep and self.kubeconfig.exists():
            leftovers.keep(self.folder)
            return
        with interruption.postponed():
            leftovers.clear(self.folder)

    def _halted(self, act: Callable[[], object]) -> None:
        kwok.stop(self.folder, self._toolbox)
        try:
            act()
        finally:
            kwok.start_again(self.folder, self._toolbox)

    def _replace_data(self, folder: Path) -> None:
        shutil.rmtree(kwok.data(self.folder))
        shutil.copytree(folder, kwok.data(self.folder))
