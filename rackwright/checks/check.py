"""A site's cluster, checked against its site file."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from rackwright.checks.access import Access
from rackwright.checks.objects import Objects, name_of
from rackwright.checks.run import Ground, Verdict, run
from rackwright.errors import Refusal
from rackwright.site.awaiting import awaiting
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Phase
from rackwright.site.postgresql import DATABASES, Databases
from rackwright.site.site import Site

MARK = ("ConfigMap", "rackwright", "kube-system")


def silence(_: str) -> None:
    """Say nothing."""


def check(
    site: Site,
    phase: Phase,
    catalog: Catalog,
    kubeconfig: Path,
    kubectl: Path | str = "kubectl",
    tenant_keys: Mapping[str, str] | None = None,
    progress: Callable[[str], None] = silence,
) -> Verdict:
    """What all checks find; Refusal where the cluster does not answer, or is not this site's."""
    access = Access(kubeconfig, kubectl)
    progress("Reading the cluster.")
    objects = access.objects()
    mark = _mark(objects, site, phase, kubeconfig)
    awaited = tuple(name for name in str(mark.get("awaits", "")).split(",") if name)
    if awaited:
        progress(f"{', '.join(awaited)} joins later (rackwright:awaits): looked at is what is there without.")
    progress("Checking it.")
    there = {name_of(node) for node in objects.all("Node")}
    meant = _joined(site, awaiting(site, awaited, catalog), there)
    return run(Ground(objects, access, meant, phase, catalog, tenant_keys or {}, databases_of(objects)))


def databases_of(objects: Objects) -> Databases:
    """Whose databases a cluster has, by its mark; its own where nothing else is said."""
    mark = objects.get(*MARK) or {}
    said = (mark.get("data") or {}).get("databases")
    return next((each for each in DATABASES if each == said), "own")


def _joined(site: Site, before: Site, there: Collection[str]) -> Site:
    """The site before its hosts have joined, with those that have: nothing is spread onto them yet."""
    hosts = tuple(whole if whole.name in there else host for whole, host in zip(site.hosts, before.hosts, strict=True))
    return before.model_copy(update={"hosts": hosts})


def _mark(objects: Objects, site: Site, phase: Phase, kubeconfig: Path) -> Mapping[str, str]:
    """What is yet to come; Refusal of a cluster that another site, or nobody, was deployed on."""
    mark = objects.get(*MARK)
    if mark is None:
        raise Refusal(
            f"The cluster of {kubeconfig} has nothing of Rackwright on it.",
            f"Run `pulumi up -s phase{phase}` first, or name the right kubeconfig with --kubeconfig.",
        )
    data: Mapping[str, str] = mark.get("data") or {}
    if (data.get("site"), str(data.get("phase"))) != (site.name, str(phase)):
        other = f"{data.get('site')}, phase {data.get('phase')}"
        raise Refusal(
            f"The cluster of {kubeconfig} is that of {other}, not that of {site.name}, phase {phase}.",
            "Name the kubeconfig of this site, or the site of this kubeconfig.",
        )
    return data
