"""To the versions that site and catalog say now, one node at a time: the plan."""

from typing import Literal

from rackwright.errors import Refusal
from rackwright.provisioning.plan import Plan, Step, hosts_of, names, others, phase_of, servers, steps_with_hosts
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Host, Phase
from rackwright.site.site import Site

Upgraded = Literal["driver", "kubernetes"]
ON = "one that a stopped run has drained is finished, and one that is there already is only proved"


def upgrade(site: Site, catalog: Catalog, what: Upgraded, phase: Phase | None = None) -> Plan:
    """The plan for a phase's nodes; Refusal where nothing of the kind is there."""
    number = phase_of(site, phase)
    hosts = hosts_of(site, number)
    steps = _driver(site, catalog, hosts) if what == "driver" else _kubernetes(site, catalog, number, hosts)
    asked = "each node is Ready, no version is passed by, nobody else has cordoned one; else nothing is touched"
    return Plan(
        title="Upgrade the driver" if what == "driver" else "Upgrade Kubernetes",
        site=site.name,
        phase=number,
        playbook="upgrade",
        variables={"phase": number, "upgrade": what, "confirm": site.name},
        steps=steps_with_hosts([Step("Look", names(hosts), asked), *steps]),
        warnings=(*_alone(hosts), "it ends at the first node that is not well; the same command goes on: " + ON),
        hosts=names(hosts),
    )


def _driver(site: Site, catalog: Catalog, hosts: tuple[Host, ...]) -> tuple[Step, ...]:
    gpus = names([host for host in hosts if host.gpus])
    if not gpus:
        raise Refusal(f"No host of {site.name} in this phase has GPUs.", "There is no driver to upgrade.")
    version = catalog.drivers[site.gpu.driver_branch].version
    whole = f"driver, libraries and fabric manager for {version} in one transaction"
    return (
        Step(
            f"Driver {version}",
            gpus,
            f"drain, exchange {whole}, reboot, prove, bring back",
            one_at_a_time=True,
            reboots="each node whose driver is another",
            down="the node, for ten to twenty minutes; what needs its GPUs or its drives waits for it",
        ),
    )


def _kubernetes(site: Site, catalog: Catalog, phase: Phase, hosts: tuple[Host, ...]) -> tuple[Step, ...]:
    control, workers = names(servers(site, phase, hosts)), names(others(site, phase, hosts))
    if phase == 1:
        version, runs = catalog.kubernetes.k3s, "containers go on"
        first = f"a snapshot of etcd, the new k3s, a restart ({runs}), proof"
        node = f"drain, the new k3s, a restart ({runs}), proof, bring back"
    else:
        version = catalog.kubernetes.kubeadm
        first = "a snapshot of etcd, the new control plane, drain, the new kubelet and containerd, proof, bring back"
        node = "the node's configuration, drain, the new kubelet and containerd, proof, bring back"
    return (
        Step(
            f"Servers to {version}",
            control,
            first,
            one_at_a_time=True,
            down="the API of that server, for minutes" + ("; another answers" if len(control) > 1 else ""),
        ),
        Step(
            f"Nodes to {version}",
            workers,
            node,
            one_at_a_time=True,
            down="the node, for minutes; what needs its GPUs or its drives waits for it",
        ),
    )


def _alone(hosts: tuple[Host, ...]) -> tuple[str, ...]:
    if len(hosts) > 1:
        return ()
    return (f"{hosts[0].name} is alone and has nowhere to drain to: what must stop for this is down meanwhile",)
