"""Which machines a phase needs, and what they do in it."""

from collections.abc import Iterator

from rackwright.site.hosts import Host, Phase, Role
from rackwright.site.reading.faults import Place
from rackwright.site.reading.judge import Broken
from rackwright.site.site import Site

EXCLUSIVE: tuple[tuple[Role, Role, str], ...] = (
    ("inference", "training", "training would take the GPUs that requests wait for"),
    ("inference", "agents", "tool execution is kept off the inference nodes"),
    ("training", "agents", "tool execution would run beside data that models are trained on"),
    ("control", "agents", "tool execution would run beside the cluster's own secrets"),
)
CONTROL_NODES = (1, 3, 5)
CONTROL_LEAST = {"cores": 2, "memory_gib": 2}
NEED_GPUS: tuple[Role, ...] = ("inference", "training")


def roles_go_together(host: Host, place: Place) -> Iterator[Broken]:
    """Some roles endanger each other on one machine."""
    for one, other, reason in EXCLUSIVE:
        if one in host.roles and other in host.roles:
            yield Broken(
                (*place, "roles"),
                f"are {one} and {other}, which exclude each other ({reason})",
                "give one of them to another host",
            )


def roles_have_their_gpus(host: Host, place: Place) -> Iterator[Broken]:
    """Serving and training want GPUs."""
    for role in NEED_GPUS:
        if role in host.roles and host.gpus is None:
            yield Broken(place, f"has the role {role} and no gpus", "describe its GPUs, or give it another role")


def site_has_a_phase(site: Site) -> Iterator[Broken]:
    """A site without a cluster does nothing."""
    if not site.phases:
        yield Broken(("clusters",), "names neither phase1 nor phase2", "describe the cluster of one phase at least")


def phases_have_hosts(site: Site, phase: Phase) -> Iterator[Broken]:
    """A cluster runs on something."""
    if not site.hosts_in(phase):
        yield Broken(
            ("clusters", f"phase{phase}"),
            f"is described, and no host serves in phase {phase}",
            f"write `phases: [{phase}]` at the hosts that do, or take the cluster out",
        )


def phases_of_hosts_exist(host: Host, place: Place, site: Site) -> Iterator[Broken]:
    """A host that serves in a phase joins that phase's cluster."""
    for phase in host.phases if site.phases else ():
        if phase not in site.phases:
            others = ", ".join(str(each) for each in site.phases)
            yield Broken(
                (*place, "phases"),
                f"are {', '.join(str(each) for each in host.phases)}, and the site has no clusters.phase{phase}",
                f"write `phases: [{others}]`, or describe clusters.phase{phase}",
            )


def first_phase_is_one_server(site: Site) -> Iterator[Broken]:
    """Phase 1 is one inference server with everything on it."""
    if 1 not in site.phases:
        return
    for index, host in site.numbered_hosts_in(1, "inference")[1:]:
        yield Broken(
            ("hosts", index, "phases"),
            f"are {', '.join(str(each) for each in host.phases)}, and {site.hosts_in(1, 'inference')[0].name} is the "
            "server of phase 1",
            "phase 1 is one server: write `phases: [2]`",
        )


def first_server_serves(host: Host, place: Place, site: Site) -> Iterator[Broken]:
    """The one server of phase 1 is an inference server; k3s runs its control plane by itself."""
    if 1 not in site.phases or 1 not in host.phases:
        return
    roles = ", ".join(str(role) for role in host.roles)
    if "inference" not in host.roles:
        yield Broken(
            (*place, "roles"),
            f"are {roles}, and phase 1 has an inference server only",
            "write `roles: [inference]`, or `phases: [2]`",
        )
    elif host.phases == (1,) and host.roles != ("inference",):
        yield Broken(
            (*place, "roles"),
            f"are {roles} in phase 1 alone, where k3s runs the control plane on the one server by itself",
            "write `roles: [inference]`",
        )


def control_nodes_can_agree(site: Site) -> Iterator[Broken]:
    """Etcd goes on while more than half of its members agree: an even number survives no more than one less."""
    if 2 not in site.phases or not site.hosts_in(2):
        return
    count = len(site.hosts_in(2, "control"))
    if count not in CONTROL_NODES:
        wanted = ", ".join(str(each) for each in CONTROL_NODES[:-1])
        yield Broken(
            ("hosts",),
            f"has {count} control nodes in phase 2, and etcd wants {wanted} or {CONTROL_NODES[-1]}",
            "give the role control to an odd number of hosts: 3 go on when one fails",
        )


def control_nodes_have_the_least(host: Host, place: Place) -> Iterator[Broken]:
    """Kubeadm refuses to make a control plane on less than two threads and 1.7 GB."""
    if "control" in host.roles and 2 in host.phases:
        for key, wanted in CONTROL_LEAST.items():
            if getattr(host, key) < wanted:
                what = f"is {getattr(host, key)}, and kubeadm wants {wanted} of a control node"
                yield Broken((*place, key), what, "give the role control to a larger host")


def second_phase_serves(site: Site) -> Iterator[Broken]:
    """Phase 2 without an inference server answers nobody."""
    if 2 in site.phases and site.hosts_in(2) and not site.hosts_in(2, "inference"):
        yield Broken(("hosts",), "has no inference server in phase 2", "give the role inference to a host with GPUs")
