"""What holds, and should be known all the same: never a reason to stop, never silent."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Host, Phase
from rackwright.site.site import Site

DISTRIBUTIONS: dict[Phase, Literal["k3s", "kubeadm"]] = {1: "k3s", 2: "kubeadm"}


class Note(NamedTuple):
    """The path in the site file, or the name of a component, and a sentence."""

    path: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}: {self.text}"


def notes(site: Site, catalog: Catalog) -> tuple[Note, ...]:
    """Everything worth a note in a valid site."""
    return (*_tried(catalog), *_systems(site, catalog), *_limits(site))


def _tried(catalog: Catalog) -> Iterator[Note]:
    minor = catalog.kubernetes.minor
    for component, fit in catalog.pinned_fits().items():
        if minor in fit.kubernetes_tried:
            stated = ", ".join(fit.kubernetes)
            yield Note(
                component,
                f"{catalog.version(component)} is stated by upstream for Kubernetes {stated}; on {minor} it was tried "
                f"in rehearsals only ({fit.source}).",
            )


def _systems(site: Site, catalog: Catalog) -> Iterator[Note]:
    for component, fit in catalog.pinned_fits().items():
        for phase in site.phases if fit.systems else ():
            stated = fit.systems.get(DISTRIBUTIONS[phase], ())
            others = sorted({_system(site, host) for host in site.hosts_in(phase) if host.gpus} - set(stated))
            if others:
                yield Note(
                    component,
                    f"{catalog.version(component)} is stated by upstream for {', '.join(stated)} under "
                    f"{DISTRIBUTIONS[phase]}, and GPU hosts of phase {phase} run {', '.join(others)}; the driver and "
                    f"the container toolkit are installed on the host, not by it ({fit.source}).",
                )


def _limits(site: Site) -> Iterator[Note]:
    for index, tenant in enumerate(site.tenants):
        if tenant.limits.tokens_per_minute is not None and 1 in site.phases:
            path = f"tenants[{index}].limits.tokens_per_minute"
            yield Note(path, f"{tenant.limits.tokens_per_minute} holds from phase 2 on; phase 1 counts requests only.")


def _system(site: Site, host: Host) -> str:
    system = host.operating_system or site.operating_system
    return f"{system.name} {system.release}"
