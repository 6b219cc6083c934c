"""Rules of the catalog itself, one public function each: what is pinned must stand still and fit together."""

import re
from collections.abc import Iterator

from rackwright.site.catalog import Catalog
from rackwright.site.known.gpu_products import gpu_products
from rackwright.site.reading.faults import Place
from rackwright.site.reading.judge import Broken
from rackwright.site.reading.nearest import nearest
from rackwright.site.reading.unknown import is_known

MOVING = re.compile(r"[*^~<>= ]|(^|\.)[xX](\.|$)|^[^0-9]*$")  # a range, a wildcard, or a word such as latest


def _is_of(version: str, prefix: str) -> bool:
    return version == prefix or version.startswith((f"{prefix}.", f"{prefix}-", f"{prefix}+"))


def kubernetes_has_one_minor(catalog: Catalog) -> Iterator[Broken]:
    """Phase 1 and phase 2 run the minor that everything is chosen for."""
    minor = catalog.kubernetes.minor
    for key, version in (("k3s", catalog.kubernetes.k3s.removeprefix("v")), ("kubeadm", catalog.kubernetes.kubeadm)):
        if not _is_of(version, minor):
            yield Broken(
                ("kubernetes", key),
                f"is {version}, while minor says {minor}",
                f"pin a release of {minor}, or change minor and look at every entry of fits",
            )


def drivers_are_of_their_branch(catalog: Catalog) -> Iterator[Broken]:
    """A branch holds a version of its own."""
    for branch, driver in catalog.drivers.items():
        if not _is_of(driver.version, str(branch)):
            yield Broken(
                ("drivers", str(branch), "version"),
                f"is {driver.version} in branch {branch}",
                f"write a version that begins with {branch}.",
            )


def fabric_managers_are_of_their_driver(catalog: Catalog) -> Iterator[Broken]:
    """The fabric manager refuses to start beside a driver of another version."""
    for branch, driver in catalog.drivers.items():
        if driver.fabric_manager != driver.version:
            yield Broken(
                ("drivers", str(branch), "fabric_manager"),
                f"is {driver.fabric_manager} beside driver {driver.version}, and would refuse to start",
                f"write {driver.version}",
            )


def driver_families_are_known(catalog: Catalog) -> Iterator[Broken]:
    """A family that no GPU product has was misspelt."""
    known = sorted({product.family for product in gpu_products().values()})
    for branch, driver in catalog.drivers.items():
        for index, family in enumerate(driver.families):
            if family not in known:
                yield Broken(
                    ("drivers", str(branch), "families", index),
                    f"is {family!r}, a family that no known GPU has",
                    nearest(family, known),
                )


def versions_stand_still(catalog: Catalog) -> Iterator[Broken]:
    """A pin names one release."""
    pins: list[tuple[Place, str]] = []
    pins += [(("charts", name, "version"), chart.version) for name, chart in catalog.charts.items() if is_known(chart)]
    pins += [(("images", name, "tag"), image.tag) for name, image in catalog.images.items() if is_known(image)]
    pins += [(("packages", name), version) for name, version in catalog.packages.items()]
    for place, version in pins:
        if is_known(version) and MOVING.search(version):
            yield Broken(place, f"is {version!r}, which may be another release tomorrow", "write one exact version")


def fits_are_of_what_is_pinned(catalog: Catalog) -> Iterator[Broken]:
    """A component whose fits are known is pinned at a version whose fits are known."""
    known = [*catalog.charts, *catalog.images, *catalog.packages]
    for component, versions in catalog.fits.items():
        pinned = catalog.version(component)
        if pinned is None:
            yield Broken(("fits", component), "is no chart, image or package here", nearest(component, known))
        elif pinned not in versions:
            yield Broken(
                ("fits", component),
                f"says what {' and '.join(versions)} goes with, while {pinned} is pinned",
                f"read what upstream says of {pinned} and write it here",
            )


def kubernetes_fits(catalog: Catalog) -> Iterator[Broken]:
    """Every component is stated, or was tried, on the one minor of Kubernetes."""
    minor = catalog.kubernetes.minor
    for component, fit in catalog.pinned_fits().items():
        if fit.kubernetes and minor not in (*fit.kubernetes, *fit.kubernetes_tried):
            yield Broken(
                ("fits", component, catalog.version(component) or "", "kubernetes"),
                f"states Kubernetes {', '.join(fit.kubernetes)}, while {minor} is pinned ({fit.source})",
                f"pin one of these minors, or a {component} that states {minor}",
            )


def drivers_fit(catalog: Catalog) -> Iterator[Broken]:
    """Every branch of the driver is one that every component takes."""
    for component, fit in catalog.pinned_fits().items():
        for branch, driver in catalog.drivers.items():
            if fit.drivers and driver.version not in fit.drivers:
                yield Broken(
                    ("drivers", str(branch), "version"),
                    f"is {driver.version}, and {component} {catalog.version(component)} does not state it",
                    f"pin one of {', '.join(fit.drivers)} ({fit.source})",
                )


def parts_fit(catalog: Catalog) -> Iterator[Broken]:
    """Components that work on each other are of versions that upstream states together."""
    for component, fit in catalog.pinned_fits().items():
        for other, prefixes in fit.goes_with.items():
            place = ("fits", component, catalog.version(component) or "", "goes_with", other)
            version = catalog.version(other)
            if version is None:
                known = [*catalog.charts, *catalog.images, *catalog.packages]
                yield Broken(place, "is no chart, image or package here", nearest(other, known))
            elif not any(_is_of(version.removeprefix("v"), prefix) for prefix in prefixes):
                yield Broken(
                    place,
                    f"is {', '.join(prefixes)}, while {other} {version} is pinned",
                    f"pin a {other} of these ({fit.source})",
                )


def engine_is_the_pinned_one(catalog: Catalog) -> Iterator[Broken]:
    """What is known of vLLM was read from the release that is pinned."""
    tag = catalog.images["vllm"].tag if "vllm" in catalog.images else "absent"
    if catalog.engine.version != tag:
        yield Broken(
            ("engine", "version"),
            f"is {catalog.engine.version}, while images.vllm.tag is {tag}",
            "read parsers, metrics and CUDA of the pinned release from its wheel and write them here",
        )


def router_is_the_pinned_one(catalog: Catalog) -> Iterator[Broken]:
    """The configuration and the objects that the router reads are those of the release that is pinned."""
    tag = catalog.images["llm-d-router"].tag if "llm-d-router" in catalog.images else "absent"
    if catalog.router.version != tag:
        yield Broken(
            ("router", "version"),
            f"is {catalog.router.version} ({catalog.router.configuration_api}, {catalog.router.objective_api}), while "
            f"images.llm-d-router.tag is {tag}",
            "read APIs and plugins of the pinned release from its source and write them here",
        )


def kserve_is_the_pinned_one(catalog: Catalog) -> Iterator[Broken]:
    """What is known of KServe was read from the release that is pinned, in each of its charts."""
    for name, chart in catalog.charts.items():
        if name.startswith("kserve-") and catalog.kserve.version != chart.version:
            yield Broken(
                ("kserve", "version"),
                f"is {catalog.kserve.version}, while charts.{name}.version is {chart.version}",
                "read APIs, names and labels of the pinned release from its source and write them here",
            )


def kserve_shares_the_router_s_kinds(catalog: Catalog) -> Iterator[Broken]:
    """Pools and objectives have one definition each, whoever writes them."""
    for key in ("pool_api", "objective_api"):
        ours, theirs = getattr(catalog.router, key), getattr(catalog.kserve, key)
        if ours != theirs:
            yield Broken(
                ("kserve", key),
                f"is {theirs}, and router.{key} is {ours}: one of the two would not find its objects",
                "pin a KServe and a router of one API",
            )


def engine_runs_on_every_driver(catalog: Catalog) -> Iterator[Broken]:
    """No branch is offered on which the engine does not start."""
    oldest = catalog.engine.oldest_driver_branch
    for branch in catalog.drivers:
        if branch < oldest:
            yield Broken(
                ("drivers", str(branch)),
                f"is older than branch {oldest}, the least that vLLM {catalog.engine.version} runs on",
                "take the branch out",
            )
