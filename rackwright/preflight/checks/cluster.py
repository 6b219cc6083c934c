"""Ports that the cluster needs, and clusters and runtimes that are here already."""

import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping

from rackwright.preflight.finding import Fault, forbids, warns
from rackwright.preflight.machine import Machine
from rackwright.preflight.needs import Need, needs
from rackwright.preflight.parsers.sockets import listeners
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Host, Phase
from rackwright.site.site import Site

RUNTIMES = ("docker", "containerd")
CONTAINERD = "containerd.io"
RUNTIME_PACKAGES = ("docker.io", "docker-ce", "moby-engine", CONTAINERD)
TRACES = ("/etc/kubernetes/manifests", "/etc/kubernetes/pki", "/etc/kubernetes/admin.conf", "/var/lib/etcd")
VERSION = re.compile(r"\bv1\.(\d{1,3})\.", re.ASCII)
DOWNGRADE = "Write the newer versions into the catalog, or install the machine anew: Kubernetes does not go back"
K3S_DATA = ("/var/lib/rancher/k3s/server", "/var/lib/rancher/k3s/agent")


def ports_are_free(machine: Machine, host: Host, site: Site, phase: Phase) -> Iterator[Fault]:
    """No other program listens on a port of the cluster's."""
    wanted = {(need.protocol, need.port): need for need in needs(site, host, phase)}
    taken: dict[tuple[str, str], list[int]] = {}
    for each in listeners(machine.network.listening):
        need = wanted.get((each.protocol, each.port))
        if need and not _is_owner(need, each.program):
            taken.setdefault((each.program, need.purpose), []).append(each.port)
    for (program, purpose), ports in taken.items():
        said = ", ".join(str(port) for port in dict.fromkeys(ports))
        cure = (
            f"Stop {program}, or move it elsewhere" if program else "See which it is (ss -lntup, as root), and stop it"
        )
        yield forbids(f"has {program or 'a program'} on port {said}, which {purpose} needs", cure)


def token_is_the_vaults(machine: Machine, phase: Phase, secrets: Mapping[str, str]) -> Iterator[Fault]:
    """The k3s token on the disk is that of the vault: with another one, neither a join nor a backup works."""
    found, salt = machine.leftovers.token_digest, machine.leftovers.token_salt
    token = secrets.get("k3s_token")
    if phase != 1 or not found or not token:
        return
    wished = hashlib.sha256(f"{salt}{token.rpartition(':')[2]}".encode()).hexdigest()
    if not hmac.compare_digest(found.encode(), wished.encode()):
        yield forbids(
            "has a k3s token that is not the vault's k3s_token",
            "If this cluster is the site's, put its token (/var/lib/rancher/k3s/server/token, what follows the last "
            "colon) into the vault; if not, take it off with playbooks/reset.yml (or k3s-uninstall.sh, where that is)",
        )


def no_other_cluster_is_here(machine: Machine, site: Site) -> Iterator[Fault]:
    """A node that is joined already is joined to this site's cluster of this phase."""
    joined = {kind: address for kind, address in machine.leftovers.servers.items() if address}
    for kind, of_phase, command in (("k3s", 1, "k3s-agent-uninstall.sh"), ("kubeadm", 2, "kubeadm reset")):
        cluster = site.clusters.phase1 if of_phase == 1 else site.clusters.phase2
        found = joined.get(kind)
        known = {str(cluster.api), "127.0.0.1", str(machine.host.address)} if cluster else set()
        if found and found.split("//")[-1].split(":")[0] not in known:
            whose = f"this site's answers at {cluster.api}" if cluster else f"this site has no phase {of_phase}"
            yield forbids(
                f"is a node of the cluster at {found}, and {whose}", f"See whose it is; {command} takes it out"
            )


def no_old_cluster_is_left(machine: Machine, host: Host, site: Site, phase: Phase) -> Iterator[Fault]:
    """Nothing of an earlier cluster is left that kubeadm or k3s would stumble over."""
    paths, units = machine.leftovers.paths, machine.units
    left = [path for path in TRACES if path in paths]
    kubelet = "/etc/kubernetes/kubelet.conf" in paths
    if left and (phase == 1 or not (kubelet or _is_begun_here(machine, site))):
        yield forbids(
            f"has {', '.join(left)} of an earlier kubeadm cluster", "See whether it is needed, then: kubeadm reset"
        )
    k3s = [path for path in K3S_DATA if path in paths]
    runs = [name for name in ("k3s", "k3s-agent") if name in units and units[name].is_active]
    if phase == 2 and (k3s or runs):
        what = f"runs {runs[0]}" if runs else f"has {', '.join(k3s)} of an earlier k3s"
        if runs and 1 in host.phases:
            yield warns(f"{what}, and serves phase 1 of the site", "Move its load to phase 2 before this host joins")
        else:
            yield forbids(what, "See whether it is needed, then: playbooks/reset.yml (or k3s-uninstall.sh)")


def cluster_is_of_a_near_version(machine: Machine, catalog: Catalog) -> Iterator[Fault]:
    """A k3s or kubelet that is here is of the catalog's minor, or the one before: minors are passed one by one."""
    wished = int(catalog.kubernetes.minor.partition(".")[2])
    for program, said in machine.leftovers.versions.items():
        match = VERSION.search(said.out)
        found = int(match[1]) if match else wished
        if found not in {wished, wished - 1}:
            cure = "Upgrade it minor by minor first, with a snapshot before each" if found < wished else DOWNGRADE
            yield forbids(f"has {program} 1.{found}, and the site wants {catalog.kubernetes.minor}", cure)


def state_is_where_it_can_move(machine: Machine) -> Iterator[Fault]:
    """A k3s that is here keeps its state in SQLite or etcd: out of another database there is no way."""
    found = machine.leftovers.datastore
    if found and found not in {"http", "https"}:
        yield forbids(
            f"has k3s with its state in an external database ({found}), which cannot become etcd",
            "Build the site's cluster beside it and move the load, or run preflight on a machine that is free",
        )


def one_container_runtime_is_here(machine: Machine, host: Host, phase: Phase) -> Iterator[Fault]:
    """No other container runtime is beside the cluster's: tools would configure the wrong one."""
    runs = [name for name in RUNTIMES if name in machine.units and machine.units[name].is_active]
    own_packages = (CONTAINERD,) if phase == 2 else ()
    has = [name for name in RUNTIME_PACKAGES if name in machine.installed and name not in own_packages]
    if phase == 2 and not has and "docker" not in runs:
        return  # containerd alone is the cluster's own
    if runs or has:
        own = "/run/k3s/containerd/containerd.sock" if phase == 1 else "/run/containerd/containerd.sock"
        yield warns(
            f"has {', '.join(dict.fromkeys((*has, *runs)))} beside the cluster's own runtime ({own}); NVIDIA's toolkit "
            "and people mistake one for the other",
            f"Remove it{', since containers in it see no GPU' if host.gpus else ''}, or know that only {own} counts",
        )


def _is_begun_here(machine: Machine, site: Site) -> bool:
    """True where a run of ours had begun with this site's node, and was cut off: the next one goes on from there."""
    cluster = site.clusters.phase2
    return cluster is not None and machine.leftovers.mark.get("api") == str(cluster.api)


def _is_owner(need: Need, program: str) -> bool:
    return program in need.owners
