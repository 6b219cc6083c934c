"""What must hold beside preflight's checks: each yields what is wrong with a host, and the cure."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from rackwright.preflight.finding import Fault, forbids
from rackwright.preflight.seen import NotSeen
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Host, Phase
from rackwright.site.site import Site
from rackwright.site.storage_classes import VOLUME_PURPOSES, volume_group
from rackwright.verify.shown import Shown, documents, groups

SOON_DAYS = 30
RUNTIME = re.compile(r"""\.runtimes\.['"]?nvidia['"]?\]""")
DEFAULT = re.compile(r"""default_runtime_name\s*=\s*['"]nvidia['"]""")
RENEWAL = {1: "systemctl restart k3s, which renews what ends soon", 2: "kubeadm certs renew all, then restart its pods"}


def nodes_are_the_sites(fleet: Mapping[str, Shown], site: Site, phase: Phase, catalog: Catalog) -> Iterator[Fault]:
    """Each host of the phase is a node that is Ready, of the catalog's version, at its address, and takes work."""
    control = next((name for name, shown in fleet.items() if shown.nodes is not None), None)
    if control is None:
        return  # with --limit to other hosts nobody was asked who could know
    said = fleet[control].nodes
    found = documents(said) if said else None
    if found is None:
        why = (said.error or said.out).strip().splitlines()[-1:] if said else []
        yield forbids(
            f"runs no cluster that answers ({''.join(why) or 'nothing was said'})",
            "See the journal of k3s or of the kubelet on it",
            control,
        )
        return
    nodes = {each.get("metadata", {}).get("name"): each for each in found}
    version = catalog.kubernetes.k3s if phase == 1 else f"v{catalog.kubernetes.kubeadm}"
    for host in site.hosts_in(phase):
        yield from _node(nodes.get(host.name), host, version, phase)
    for stranger in sorted(set(map(str, nodes)) - {host.name for host in site.hosts_in(phase)}):
        yield forbids(
            f"has a node {stranger} in its cluster that is no host of the site",
            f"kubectl delete node {stranger}",
            control,
        )


def runtime_is_nvidias(shown: Shown, host: Host, phase: Phase) -> Iterator[Fault]:
    """On hosts with GPUs containerd knows NVIDIA's runtime, and gives it to pods in phase 1."""
    if host.gpus is None:
        return
    if shown.containerd is None:
        raise NotSeen("The configuration of containerd", "there is none")
    if not RUNTIME.search(shown.containerd) or (phase == 1 and not DEFAULT.search(shown.containerd)):
        yield forbids(
            "has a containerd that does not give pods NVIDIA's runtime",
            "Run provision.yml, then restart k3s: it looks for the runtime when it starts"
            if phase == 1
            else "Run provision.yml and kubernetes.yml",
        )


def volume_groups_are_there(shown: Shown, host: Host) -> Iterator[Fault]:
    """Drives of each purpose form the volume group that volumes are cut from."""
    wished = [volume_group(purpose) for purpose in VOLUME_PURPOSES if host.disk_gb(purpose)]
    if not wished:
        return
    found = groups(shown.volumes) if shown.volumes else None
    if found is None:
        raise NotSeen("Volume groups", "vgs gave no report")
    missing = [name for name in wished if name not in found]
    if missing:
        yield forbids(f"has no volume group {', '.join(missing)}", "Run provision.yml: drives are its storage role's")


def certificates_last(shown: Shown, phase: Phase) -> Iterator[Fault]:
    """No certificate of the cluster's ends within 30 days."""
    for each in shown.certificates:
        left = each.days_left(shown.now)
        if left is None:
            raise NotSeen(f"The end of {each.path}", "openssl gave none")
        if left < SOON_DAYS:
            when = f"ends in {left:.0f} days" if left > 0 else f"ended {-left:.0f} days ago"
            yield forbids(f"has {each.path}, which {when}", RENEWAL[phase])


def gpus_are_driven(shown: Shown, host: Host, site: Site, catalog: Catalog) -> Iterator[Fault]:
    """The driver shows each of the host's GPUs, and is the catalog's."""
    if host.gpus is None:
        return
    if shown.gpus is None or shown.gpus.code:
        why = (shown.gpus.error or shown.gpus.out).strip() if shown.gpus else "it was not asked"
        yield forbids(f"shows no GPU ({why[:200] or 'nvidia-smi failed'})", "Run provision.yml; then dmesg | grep NVRM")
        return
    rows = [[part.strip() for part in line.split(",")] for line in shown.gpus.out.splitlines() if line.strip()]
    if len(rows) != host.gpus.count:
        yield forbids(
            f"shows {len(rows)} GPUs, and the site says {host.gpus.count}",
            "See dmesg | grep -E 'NVRM|Xid', and nvidia-smi -q for one that fell off the bus",
        )
    wished = catalog.drivers[site.gpu.driver_branch].version
    for version in sorted({row[-1] for row in rows} - {wished}):
        yield forbids(f"runs driver {version}, and the catalog says {wished}", "Run upgrade.yml for drivers")


def _node(node: dict[str, Any] | None, host: Host, version: str, phase: Phase) -> Iterator[Fault]:
    """One node against its host."""
    if node is None:
        playbook = "k3s.yml" if phase == 1 else "kubernetes.yml"
        yield forbids("is no node of the cluster", f"Run {playbook} --limit {host.name}", host.name)
        return
    status = node.get("status", {})
    ready: dict[str, Any] = next((each for each in status.get("conditions", ()) if each.get("type") == "Ready"), {})
    if ready.get("status") != "True":
        why = ready.get("message") or ready.get("reason") or "its kubelet said nothing yet"
        yield forbids(
            f"is a node that is not ready: {why}", "See the journal of k3s or of the kubelet on it", host.name
        )
    found = status.get("nodeInfo", {}).get("kubeletVersion")
    if found != version:
        yield forbids(f"runs {found}, and the catalog says {version}", "Run upgrade.yml", host.name)
    addresses = [each.get("address") for each in status.get("addresses", ()) if each.get("type") == "InternalIP"]
    if str(host.address) not in addresses:
        yield forbids(
            f"is a node at {', '.join(map(str, addresses)) or 'no address'}, and the site says {host.address}",
            "See node-ip in its configuration",
            host.name,
        )
    if node.get("spec", {}).get("unschedulable"):
        yield forbids("is cordoned, and takes no new work", f"kubectl uncordon {host.name}", host.name)
