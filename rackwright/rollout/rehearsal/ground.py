"""One phase's rehearsal cluster with its stack: a real Kubernetes API, simulated machines, the real `pulumi up`."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from rackwright.checks.access import Access
from rackwright.rollout.gates import Reading
from rackwright.rollout.ground import ROOT
from rackwright.rollout.platform.clusters import Nodes, Serves
from rackwright.rollout.platform.stack import PulumiStack
from rackwright.sandbox.control_plane import ControlPlane
from rackwright.sandbox.locks import Progress
from rackwright.sandbox.nodes import nodes, storage_capacities
from rackwright.sandbox.settling import settle
from rackwright.sandbox.stack import Stack
from rackwright.sandbox.tools import Toolbox
from rackwright.secrets import Vault
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Phase
from rackwright.site.site import Site

READY_S = 120.0


@dataclass(frozen=True)
class Cluster:
    """A phase of a site, rehearsed."""

    site: Site
    folder: Path
    phase: Phase
    plane: ControlPlane
    toolbox: Toolbox
    sandbox: Stack
    progress: Progress

    @classmethod
    def of(
        cls,
        site: Site,
        folder: Path,
        phase: Phase,
        *,
        plane: ControlPlane,
        toolbox: Toolbox,
        vault: Vault,
        charts: Path | None,
        progress: Progress,
    ) -> "Cluster":
        """A cluster without machines, and its stack, empty; both phases have one vault."""
        settings = {
            "site": str(folder.resolve()),
            "secrets": str(vault.file.parents[2]),
            "kubeconfig": str(plane.kubeconfig),
        } | ({"charts": str(charts)} if charts else {})
        passphrase = vault.read()["pulumi_passphrase"]
        stack = Stack(
            f"phase{phase}",
            plane.folder / "pulumi",
            plane.folder,
            toolbox=toolbox,
            vault=vault,
            passphrase=passphrase,
            settings=settings,
        )
        stack.prepare()
        return cls(site, folder, phase, plane, toolbox, stack, progress)

    @property
    def options(self) -> tuple[str, ...]:
        """Where the stack's settings lie."""
        return ("--config-file", str(self.sandbox.configuration))

    @property
    def stack(self) -> PulumiStack:
        """As the rollout knows it."""
        return PulumiStack(self.folder, self.phase, ROOT, self.options, self.environment)

    @property
    def environment(self) -> Mapping[str, str]:
        """What Pulumi and kubectl are started with."""
        return self.sandbox.environment

    @property
    def kubectl(self) -> tuple[str, ...]:
        """The command with its kubeconfig."""
        return (str(self.toolbox["kubectl"].path), f"--kubeconfig={self.plane.kubeconfig}")

    @property
    def access(self) -> Access:
        """The cluster, read-only."""
        return Access(self.plane.kubeconfig, self.toolbox["kubectl"].path)

    @property
    def nodes(self) -> Nodes:
        """Its nodes."""
        return Nodes(self.plane.kubeconfig, self.toolbox["kubectl"].path)

    def power_on(self, hosts: Collection[str]) -> None:
        """These machines join, as simulated nodes with the drives that the site gives them, and are Ready."""
        made = [*nodes(self.site, self.phase, Catalog.load()), *storage_capacities(self.site, self.phase)]
        self.plane.apply(each for each in made if _host(each["metadata"]["name"], hosts))
        self.plane.kubectl.wait_for(*(f"node/{host}" for host in hosts), condition="Ready", seconds=READY_S)

    def power_off(self, hosts: Collection[str]) -> None:
        """These machines are gone."""
        for host in hosts:
            self.plane.delete_node(host)

    def has(self, hosts: Collection[str]) -> bool:
        """Whether each of them is a Ready node."""
        ready = self.nodes.ready()
        return all(ready.get(host) for host in hosts)

    def serves(self) -> Reading:
        """The checks of `rackwright check`; where one fails, again once what goes on after an update has settled."""
        if (seen := self.checked()).passed:
            return seen
        settle(self.access, self.site, self.progress)
        return self.checked()

    def checked(self) -> Reading:
        """The same, as it is at this moment."""
        return Serves(self.site, self.phase, self.plane.kubeconfig, self.toolbox["kubectl"].path, {})()


def _host(name: str, hosts: Collection[str]) -> bool:
    """True of a node, or of a room on its drives, which bears its name before the drive's purpose."""
    return any(name == host or name.startswith(f"{host}-") for host in hosts)
