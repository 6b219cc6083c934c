"""Whether a cluster is the site's own: looked at before anything is registered, so that no other is ever touched."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rackwright.errors import Refusal
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Phase
from rackwright.site.site import Site

MARK, MARK_NAMESPACE = "rackwright", "kube-system"  # the ConfigMap that says whose the cluster is
ANSWER_S = 10


@dataclass(frozen=True)
class Seen:
    """What a cluster shows of itself."""

    nodes: frozenset[str]
    minor: str
    mark: dict[str, str] | None


def mark(site: str, phase: Phase) -> dict[str, Any]:
    """What the first `pulumi up` leaves in a cluster, so that no other site's ever follows."""
    metadata = {"name": MARK, "namespace": MARK_NAMESPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"site": site, "phase": str(phase)}}


def refuse_foreign(site: Site, phase: Phase, catalog: Catalog, seen: Seen, kubeconfig: Path) -> None:
    """Refusal where the cluster belongs to another site or phase, or is not what this one's was chosen for."""
    another = f"Name the kubeconfig of {site.name}'s phase {phase} (clusters.phase{phase}.kubeconfig in its site.yml)"
    if seen.mark is not None and seen.mark != mark(site.name, phase)["data"]:
        owner = f"{seen.mark.get('site', 'another site')}, phase {seen.mark.get('phase', 'unknown')}"
        raise Refusal(f"The cluster of {kubeconfig} is that of {owner}.", f"{another}.")
    wanted = frozenset(host.name for host in site.hosts_in(phase))
    if strangers := seen.nodes - wanted:
        raise Refusal(
            f"The cluster of {kubeconfig} has nodes that are not hosts of {site.name}: {_listed(strangers)}.",
            f"{another}, or write these hosts into it.",
        )
    if missing := wanted - seen.nodes:
        raise Refusal(
            f"The cluster of {kubeconfig} lacks nodes of {site.name}: {_listed(missing)}.",
            "Let these hosts join it first (playbooks/site.yml), or take the phase out of their phases.",
        )
    if seen.minor != catalog.kubernetes.minor:
        raise Refusal(
            f"The cluster of {kubeconfig} runs Kubernetes {seen.minor}, not {catalog.kubernetes.minor}.",
            f"Bring the cluster to {catalog.kubernetes.minor}.",
        )


def look(kubeconfig: Path) -> Seen:
    """What the cluster behind a kubeconfig shows; Refusal where there is none, or none that answers."""
    import kr8s  # noqa: PLC0415 - half a second, which a refusal before it need not wait for

    if not kubeconfig.is_file():
        raise Refusal(
            f"The kubeconfig {kubeconfig} is not there.",
            "Make the cluster first (playbooks/site.yml brings its kubeconfig), or name another one.",
        )
    try:
        api = kr8s.api(kubeconfig=str(kubeconfig))
        api.timeout = ANSWER_S
        version = api.version()
        nodes = frozenset(node.name for node in kr8s.get("nodes", api=api))
        marks = list(kr8s.get("configmaps", namespace=MARK_NAMESPACE, field_selector={"metadata.name": MARK}, api=api))
    except kr8s.ServerError as error:
        raise Refusal(
            f"The cluster of {kubeconfig} refuses: {error}.",
            "Use a kubeconfig whose user may read nodes and ConfigMaps, such as the administrator's.",
        ) from None
    except Exception as error:  # noqa: BLE001 - httpx, ssl, yaml and kr8s each have their own; all mean no answer
        raise Refusal(
            f"The cluster of {kubeconfig} does not answer: {_reason(error)}.",
            "See that the file is a kubeconfig and that its server is up and reachable from here.",
        ) from None
    minor = ".".join((version["major"], version["minor"].rstrip("+")))
    return Seen(nodes, minor, dict(marks[0].raw.get("data", {})) if marks else None)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _reason(error: BaseException) -> str:
    """The innermost cause, which is what a user can act on, in one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    said = " ".join(str(error).split())
    return said[:200] or type(error).__name__
