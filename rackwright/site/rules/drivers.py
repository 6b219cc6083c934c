"""The driver, the GPUs that it drives and the system that it is built on."""

from collections.abc import Iterator

from rackwright.site.catalog import Catalog
from rackwright.site.gpu import Gpu
from rackwright.site.hosts import Host
from rackwright.site.operating_system import SUPPORTED, OperatingSystem
from rackwright.site.reading.faults import Place
from rackwright.site.reading.judge import Broken
from rackwright.site.reading.shown import shown
from rackwright.site.site import Site


def driver_branch_is_known(gpu: Gpu, catalog: Catalog) -> Iterator[Broken]:
    """The catalog holds the exact version of every branch that is supported."""
    if gpu.driver_branch not in catalog.drivers:
        near = min(catalog.drivers, key=lambda branch: abs(branch - gpu.driver_branch))
        known = ", ".join(str(branch) for branch in sorted(catalog.drivers))
        yield Broken(
            ("gpu", "driver_branch"),
            f"is {gpu.driver_branch}, and the catalog holds {known}",
            f"did you mean {near}?",
        )


def driver_has_its_flavour(gpu: Gpu, catalog: Catalog) -> Iterator[Broken]:
    """Not every branch comes with both kernel modules."""
    driver = catalog.drivers.get(gpu.driver_branch)
    if driver and gpu.driver_flavour not in driver.flavours:
        yield Broken(
            ("gpu", "driver_flavour"),
            f"is {gpu.driver_flavour}, which driver {driver.version} has not",
            f"write {' or '.join(str(each) for each in driver.flavours)}",
        )


def driver_knows_the_gpus(host: Host, place: Place, gpu: Gpu, catalog: Catalog) -> Iterator[Broken]:
    """A branch drives some families of GPUs."""
    driver = catalog.drivers.get(gpu.driver_branch)
    if host.gpus and driver and host.gpus.known.family not in driver.families:
        newer = [str(branch) for branch, each in catalog.drivers.items() if host.gpus.known.family in each.families]
        yield Broken(
            (*place, "gpus", "product"),
            f"is {host.gpus.product} ({host.gpus.known.family}), and driver branch {gpu.driver_branch} drives "
            f"{', '.join(str(each) for each in driver.families)}",
            f"write gpu.driver_branch: {' or '.join(newer) or 'one that drives it'}",
        )


def driver_flavour_drives_the_gpus(host: Host, place: Place, gpu: Gpu) -> Iterator[Broken]:
    """Blackwell only works with the open kernel module."""
    if host.gpus and gpu.driver_flavour not in host.gpus.known.flavours:
        yield Broken(
            (*place, "gpus", "product"),
            f"is {host.gpus.product} ({host.gpus.known.family}), which gpu.driver_flavour {gpu.driver_flavour} "
            "does not drive",
            f"write gpu.driver_flavour: {host.gpus.known.flavours[0]}",
        )


def secure_boot_has_signed_modules(gpu: Gpu) -> Iterator[Broken]:
    """Firmware with Secure Boot refuses a module that was built on the host, unless its key is enrolled by hand."""
    if gpu.secure_boot and gpu.driver_source != "distribution":
        yield Broken(
            ("gpu", "secure_boot"),
            f"is true, and driver_source {gpu.driver_source} builds unsigned modules on the host",
            "write driver_source: distribution (Ubuntu's signed modules), or turn Secure Boot off in the firmware",
        )


def signed_modules_are_ubuntus(host: Host, place: Place, site: Site) -> Iterator[Broken]:
    """Only Ubuntu publishes signed modules of these branches."""
    system = host.operating_system or site.operating_system
    if host.gpus and site.gpu.driver_source == "distribution" and system.name != "ubuntu":
        yield Broken(
            place,
            f"runs {system.name} {system.release}, and gpu.driver_source distribution is Ubuntu's",
            "write driver_source: nvidia, or run ubuntu on GPU hosts",
        )


def site_system_is_supported(operating_system: OperatingSystem) -> Iterator[Broken]:
    """The site's system is one that is provisioned."""
    yield from _unsupported(("operating_system", "release"), operating_system)


def host_system_is_supported(host: Host, place: Place) -> Iterator[Broken]:
    """A host's own system is one that is provisioned."""
    if host.operating_system is not None:
        yield from _unsupported((*place, "operating_system", "release"), host.operating_system)


def _unsupported(place: Place, system: OperatingSystem) -> Iterator[Broken]:
    supported = SUPPORTED[system.name]
    if system.release not in supported:
        yield Broken(
            place,
            f"is {shown(system.release)}, and {system.name} is supported in {', '.join(supported)}",
            "write " + " or ".join(f'"{each}"' for each in supported),
        )
