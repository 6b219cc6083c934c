"""Containers: their images are pinned, and their probes ask ports that are there."""

import re
from collections.abc import Iterator, Mapping

from rackwright.checks.findings import Finding, failed, whole
from rackwright.checks.objects import Object, Objects
from rackwright.checks.workloads import Workload, our_workloads
from rackwright.site.catalog import Catalog, Image

PROBES = ("startupProbe", "readinessProbe", "livenessProbe")
IMAGE = re.compile(
    r"^(?P<repository>[a-z0-9][a-z0-9._/:-]*?)(:(?P<tag>[\w][\w.-]*))?(@(?P<digest>sha256:[0-9a-f]{64}))?$"
)
MOVING = {"latest", "main", "master", "edge", "nightly", "dev"}


def images_are_pinned(objects: Objects, catalog: Catalog) -> Iterator[Finding]:
    """Every image has a tag that stays or a digest; one that the catalog knows is the catalog's."""
    known = {image.repository: image for image in catalog.images.values()}
    found = [
        (each, container)
        for each in our_workloads(objects)
        for container in each.containers
        # Which images an operator takes is its own version's choice, and whoever plays it takes none.
        if not (objects.simulated and each.object["metadata"].get("ownerReferences"))
    ]
    faults = [fault for each, container in found if (fault := _image(known, each, container))]
    yield from whole(faults, "cluster", f"{len({container['image'] for _, container in found})} images are pinned")


def probes_ask_ports(objects: Objects) -> Iterator[Finding]:
    """A probe that names a port names one of its container's: the API server takes any name."""
    containers = [(each, container) for each in our_workloads(objects) for container in each.containers]
    faults = [fault for each, container in containers for fault in _probes(each, container)]
    yield from whole(faults, "cluster", f"probes of {len(containers)} containers ask ports that are there")


def _image(known: Mapping[str, Image], workload: Workload, container: Object) -> Finding | None:
    where, image = f"{workload.where}, container {container['name']}", container.get("image") or ""
    parts = IMAGE.match(image)
    if parts is None:
        return failed(where, f"has the image {image!r}, which names none", "Name it as registry/name:tag@digest.")
    pin = known.get(parts["repository"])
    if pin is not None and image != pin.reference:
        return failed(
            where, f"runs {image}, the catalog pins {pin.reference}", "Run `pulumi up` of this checkout again."
        )
    if parts["digest"] is None and (parts["tag"] is None or parts["tag"] in MOVING):
        return failed(where, f"has the image {image}, which is another one tomorrow", "Pin it by tag or by digest.")
    return None


def _probes(workload: Workload, container: Object) -> Iterator[Finding]:
    names = {port.get("name") for port in container.get("ports") or []}
    for probe in PROBES:
        settings = container.get(probe) or {}
        port = (settings.get("httpGet") or settings.get("tcpSocket") or {}).get("port")
        if isinstance(port, str) and port not in names:
            yield failed(
                f"{workload.where}, container {container['name']}",
                f"{probe} asks the port {port}, which it does not declare",
                f"Name one of {', '.join(sorted(filter(None, names))) or 'its ports, of which it declares none'}.",
            )
