"""The driver and the container toolkit of a host, for the arguments and the decisions of their roles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from ansible.errors import AnsibleFilterError

from rackwright.errors import Refusal
from rackwright.metal import driver_found, driver_transaction, toolkit
from rackwright.metal.driver import Driver, driver
from rackwright.metal.driver_found import Found
from rackwright.metal.repositories import Repository
from rackwright.site.catalog import Catalog
from rackwright.site.gpu import Gpu
from rackwright.site.hosts import Host
from rackwright.site.operating_system import OperatingSystem

Plain = dict[str, Any]


class FilterModule:
    """The filters, by the name that Ansible looks for."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Filters by their name in a play."""
        return {
            "nvidia_driver_of": nvidia_driver_of,
            "container_toolkit_of": container_toolkit_of,
            "driver_refusals": _judged(driver_found.refusals),
            "driver_not_offered": _judged(driver_found.not_offered),
            "driver_missing": _judged(driver_found.missing),
            "driver_holds": _judged(driver_found.holds),
            "driver_faults": _judged(driver_found.faults),
            "driver_why_reboot": _judged(driver_found.why_reboot),
            "driver_is_complete": _judged(driver_transaction.is_complete),
            "driver_transaction": _judged(driver_transaction.transaction),
            "driver_unwanted": driver_unwanted,
        }


def nvidia_driver_of(host: Plain, site: Plain, catalog: Plain) -> Plain:
    """The driver that a host is to have."""
    block, site = Host.model_validate(_plain(host)), _plain(site)
    if block.gpus is None:
        raise AnsibleFilterError(f"{block.name} has no GPUs, and no driver.")
    try:
        return asdict(driver(block.gpus, Gpu.model_validate(site["gpu"]), _system(block, site), _catalog(catalog)))
    except Refusal as refusal:
        raise AnsibleFilterError(f"{refusal.what} {refusal.cure}") from None


def container_toolkit_of(host: Plain, site: Plain, catalog: Plain) -> Plain:
    """The container toolkit that a host is to have."""
    return asdict(
        toolkit.container_toolkit(_system(Host.model_validate(_plain(host)), _plain(site)), _catalog(catalog))
    )


def _judged(judge: Callable[[Driver, Found], Any]) -> Callable[[Plain, Plain], Any]:
    """A judgement of what was found on a host, over plain data: `found | driver_refusals(driver)`."""
    return lambda found, wanted: judge(_driver(wanted), Found.understand(_plain(found)))


def driver_unwanted(found: Plain, wanted: Plain, simulation: str, exchanges: bool) -> list[str]:
    """What a simulated transaction would do that nobody asked for."""
    return driver_transaction.unwanted(_driver(wanted), Found.understand(_plain(found)), simulation, exchanges)


def _driver(wanted: Plain) -> Driver:
    plain = _plain(wanted)
    lists = {name: tuple(value) for name, value in plain.items() if isinstance(value, list)}
    source = plain["repository"]
    repository = Repository(source["address"], source["key"]) if source else None
    return Driver(**{**plain, **lists, "repository": repository})


def _catalog(plain: Plain) -> Catalog:
    return Catalog.model_validate(_plain(plain))


def _system(host: Host, site: Plain) -> OperatingSystem:
    return host.operating_system or OperatingSystem.model_validate(site["operating_system"])


def _plain(value: Any) -> Any:
    """Without Ansible's lazy containers, whose parts nobody else may look at."""
    if isinstance(value, Mapping):
        return {str(key): _plain(value[key]) for key in value}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value
