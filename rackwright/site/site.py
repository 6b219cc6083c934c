"""A site: everything that is wished of one rack, in one typed file that Python and Ansible both read."""

from dataclasses import replace
from ipaddress import IPv4Address
from pathlib import Path
from typing import Self

from pydantic import Field

from rackwright.site.agents import Agents
from rackwright.site.clusters import Cluster, Clusters
from rackwright.site.gateway import Gateway
from rackwright.site.gpu import Gpu
from rackwright.site.gpu_resources import offered, requested
from rackwright.site.halves import Group, groups, hosts_of_a_replica
from rackwright.site.hosts import Host, Phase, Role
from rackwright.site.langfuse import Langfuse
from rackwright.site.models import Model
from rackwright.site.monitoring import Monitoring
from rackwright.site.networks import Networks
from rackwright.site.object_storage import ObjectStorage
from rackwright.site.operating_system import OperatingSystem
from rackwright.site.postgresql import Postgresql
from rackwright.site.rollout import Rollout
from rackwright.site.routing import Routing
from rackwright.site.serving import Serving
from rackwright.site.settings import Name, Settings
from rackwright.site.tenants import Tenant
from rackwright.site.training import Training
from rackwright.site.vectors import Vectors
from rackwright.site.workload import Targets, Workload


class Site(Settings):
    """The whole life of a site: its machines, its networks, and what runs on them in either phase."""

    name: Name = Field(description="The site's name, in stack names, logs and metrics.")
    operating_system: OperatingSystem = Field(description="What the machines run.")
    networks: Networks = Field(description="What joins them.")
    hosts: tuple[Host, ...] = Field(min_length=1, description="The machines.")
    gpu: Gpu = Field(description="The driver, and how GPUs are shared.")
    clusters: Clusters = Field(description="One Kubernetes cluster a phase.")
    models: tuple[Model, ...] = Field(min_length=1, description="What is served.")
    vectors: Vectors = Field(description="The vector store.")
    postgresql: Postgresql = Field(description="The database server.")
    gateway: Gateway = Field(description="The door for tenants.")
    routing: Routing = Field(default=Routing(), description="Who waits for a replica in phase 2, and for how long.")
    rollout: Rollout | None = Field(
        default=None, description="The way from phase 1 to phase 2; absent: the defaults, where the site has both."
    )
    monitoring: Monitoring = Field(default=Monitoring(), description="The metrics.")
    object_storage: ObjectStorage | None = Field(default=None, description="The site's S3-compatible store.")
    agents: Agents | None = Field(
        default=None, description="Tools of agents; absent: the defaults, where hosts have the role."
    )
    training: Training | None = Field(
        default=None, description="Training; absent: the defaults, where hosts have the role."
    )
    langfuse: Langfuse | None = Field(default=None, description="Traces of what agents and people asked; absent: none.")
    tenants: tuple[Tenant, ...] = Field(min_length=1, description="Who may call.")
    workload: Workload = Field(description="The load that it must carry.")
    targets: Targets = Field(default=Targets(), description="How fast it must answer.")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The site in a folder (its site.yml) or file; SiteRefused lists every fault, Refusal what cannot be read."""
        from rackwright.site.load import load  # noqa: PLC0415 - the loader builds on this class

        return load(cls, Path(path))

    def cluster(self, phase: Phase) -> Cluster | None:
        """The cluster of a phase, where the site has that phase."""
        return self.clusters.phase1 if phase == 1 else self.clusters.phase2

    @property
    def phases(self) -> tuple[Phase, ...]:
        """The phases that the site has."""
        phases: tuple[Phase, ...] = (1, 2)
        return tuple(phase for phase in phases if self.cluster(phase))

    def numbered_hosts_in(self, phase: Phase, role: Role | None = None) -> tuple[tuple[int, Host], ...]:
        """Hosts that serve in a phase, and in a role if one is given, each with its number in the file from 0."""
        return tuple(
            (index, host)
            for index, host in enumerate(self.hosts)
            if phase in host.phases and (role is None or role in host.roles)
        )

    def hosts_in(self, phase: Phase, role: Role | None = None) -> tuple[Host, ...]:
        """Hosts that serve in a phase, and in a role if one is given."""
        return tuple(host for _, host in self.numbered_hosts_in(phase, role))

    def door(self, phase: Phase) -> IPv4Address:
        """Where the gateway answers: k3s's server at its own address; in phase 2 at one that moves between nodes."""
        moving = self.gateway.address if phase == 2 else None
        return moving or self.hosts_in(phase)[0].address

    def numbered_models_in(self, phase: Phase) -> tuple[tuple[int, Model, Serving], ...]:
        """Models served in a phase, each with its number in the file from 0 and how it runs there."""
        found = ((i, model, model.in_phase(phase)) for i, model in enumerate(self.models))
        return tuple((index, model, serving) for index, model, serving in found if serving.replicas)

    def models_in(self, phase: Phase) -> tuple[tuple[Model, Serving], ...]:
        """Models served in a phase, each with how it runs there."""
        return tuple((model, serving) for _, model, serving in self.numbered_models_in(phase))

    def groups_in(self, phase: Phase) -> tuple[Group, ...]:
        """Replicas of a phase by what they are: one group a model, or two of one whose prompts are computed apart."""
        served = self.models_in(phase)
        if phase == 1:  # one server has nothing to divide
            return tuple(Group(model, serving, model.name) for model, serving in served)
        return tuple(self._on_hosts(group) for model, serving in served for group in groups(model, serving))

    def _on_hosts(self, group: Group) -> Group:
        """A group that knows how many hosts a replica of it takes; one where none has the room, as rules say."""
        model = group.model
        if model.pipeline_parallel == 1:
            return group
        wanted = requested(model, self.gpu)
        gpus = [host.gpus for _, host in self.numbered_servers_in(2) if host.gpus]
        rooms = [offered(each, self.gpu).get(wanted, 0) for each in gpus]
        return replace(group, hosts=hosts_of_a_replica(model, rooms) or 1)

    def numbered_servers_in(self, phase: Phase) -> tuple[tuple[int, Host], ...]:
        """Hosts on which models may be served, each with its number in the file: for inference, and lent ones."""
        lent: tuple[Role, ...] = ("training",) if phase == 2 and self.lends_gpus else ()
        return tuple(
            (index, host)
            for index, host in self.numbered_hosts_in(phase)
            if "inference" in host.roles or (host.gpus and any(role in host.roles for role in lent))
        )

    @property
    def lends_gpus(self) -> bool:
        """True where models may be served on training hosts."""
        return self.training is not None and self.training.lends_gpus
