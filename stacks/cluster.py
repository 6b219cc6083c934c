"""Whether a cluster is the site's own: looked at before anything is registered, so that no other is ever touched."""

import json
import subprocess
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rackwright.errors import Refusal
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Phase
from rackwright.site.postgresql import Databases
from rackwright.site.site import Site

MARK, MARK_NAMESPACE = "rackwright", "kube-system"  # the ConfigMap that says whose the cluster is
ANSWER_S = 10
NODES = "/api/v1/nodes"
MARKS = f"/api/v1/namespaces/{MARK_NAMESPACE}/configmaps?fieldSelector=metadata.name%3D{MARK}"


@dataclass(frozen=True)
class Seen:
    """What a cluster shows of itself."""

    nodes: frozenset[str]
    minor: str
    mark: dict[str, str] | None


def mark(site: str, phase: Phase, awaited: Sequence[str] = (), databases: Databases = "own") -> dict[str, Any]:
    """What `pulumi up` leaves in a cluster: no other site's ever follows, and checks know what is yet to come."""
    metadata = {"name": MARK, "namespace": MARK_NAMESPACE}
    data = {"site": site, "phase": str(phase)} | ({"awaits": ",".join(awaited)} if awaited else {})
    data |= {"databases": databases} if databases != "own" else {}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def refuse_foreign(
    site: Site, phase: Phase, catalog: Catalog, seen: Seen, kubeconfig: Path, awaited: Collection[str] = ()
) -> None:
    """Refusal where the cluster belongs to another site or phase, or is not what this one's was chosen for.

    A host that is awaited may be a node already, and need not be.
    """
    another = f"Name the kubeconfig of {site.name}'s phase {phase} (clusters.phase{phase}.kubeconfig in its site.yml)"
    whose = mark(site.name, phase)["data"]
    if seen.mark is not None and {name: seen.mark.get(name) for name in whose} != whose:
        owner = f"{seen.mark.get('site', 'another site')}, phase {seen.mark.get('phase', 'unknown')}"
        raise Refusal(f"The cluster of {kubeconfig} is that of {owner}.", f"{another}.")
    wanted = frozenset(host.name for host in site.hosts_in(phase))
    if strangers := seen.nodes - wanted:
        raise Refusal(
            f"The cluster of {kubeconfig} has nodes that are not hosts of {site.name}: {_listed(strangers)}.",
            f"{another}, or write these hosts into it.",
        )
    if missing := wanted - seen.nodes - frozenset(awaited):
        raise Refusal(
            f"The cluster of {kubeconfig} lacks nodes of {site.name}: {_listed(missing)}.",
            "Let these hosts join it first, or take the phase out of their phases; one that phase 1 needs meanwhile is "
            f"awaited: pulumi config set -s phase{phase} rackwright:awaits HOST.",
        )
    if seen.minor != catalog.kubernetes.minor:
        raise Refusal(
            f"The cluster of {kubeconfig} runs Kubernetes {seen.minor}, not {catalog.kubernetes.minor}.",
            f"Bring the cluster to {catalog.kubernetes.minor}.",
        )


def refuse_giving_up(seen: Seen, databases: Databases) -> None:
    """Refusal where a platform has databases of its own, and is to have others: what writes to them would go."""
    if seen.mark is not None and "databases" not in seen.mark and databases != "own":
        raise Refusal(
            f"rackwright:databases is {databases}, and this cluster has databases of its own.",
            "Keep them: pulumi config rm -s phase2 rackwright:databases; or, where nobody needs what phase 2 holds, "
            "begin it anew: pulumi destroy -s phase2.",
        )


def look(kubeconfig: Path) -> Seen:
    """What the cluster behind a kubeconfig shows; Refusal where there is none, or none that answers."""
    if not kubeconfig.is_file():
        raise Refusal(
            f"The kubeconfig {kubeconfig} is not there.",
            "Make the cluster first and copy its kubeconfig there, or name another one.",
        )
    asked = [_ask(kubeconfig, path) for path in ("/version", NODES, MARKS)]
    answers = [each.communicate() for each in asked]  # all of them, so that no process is left behind
    version, nodes, marks = (_read(kubeconfig, *each) for each in answers)
    names = frozenset(node["metadata"]["name"] for node in nodes["items"])
    minor = f"{version['major']}.{version['minor'].rstrip('+')}"
    return Seen(names, minor, marks["items"][0].get("data", {}) if marks["items"] else None)


def _ask(kubeconfig: Path, path: str) -> subprocess.Popen[str]:
    """Ask in a process of its own: kubectl knows every way to log in, and this program goes on meanwhile."""
    command = ["kubectl", f"--kubeconfig={kubeconfig}", f"--request-timeout={ANSWER_S}s", "get", "--raw", path]
    try:
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        raise Refusal(
            f"kubectl cannot be run: {error.strerror}.",
            'Install it, or take Rackwright\'s own: eval "$(rackwright env)".',
        ) from None


def _read(kubeconfig: Path, output: str, said: str) -> Any:
    try:
        return json.loads(output)
    except ValueError:
        why = " ".join(said.split()).rstrip(".") or "what answers is no Kubernetes"
    raise Refusal(
        f"The cluster of {kubeconfig} does not answer: {why}.",
        "See that its server is up and reachable from here, and that the file's user may read nodes and ConfigMaps.",
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
