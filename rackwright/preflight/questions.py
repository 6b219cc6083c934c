"""What a host is to be asked: the arguments of the role preflight_facts."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from rackwright.preflight.needs import is_control, needs
from rackwright.preflight.upstream import upstreams
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Host, Phase
from rackwright.site.site import Site

CALLED = (6443, 2379, 2380, 10250)  # by other hosts, over TCP
ETCD = {1: "/var/lib/rancher/k3s/server/db", 2: "/var/lib/etcd"}


def questions(site: Site, host: Host, phase: Phase, catalog: Catalog, salt: str) -> dict[str, Any]:
    """Everything that a host is asked, as plain data; the salt hides a token's digest, and is new in each run."""
    elsewhere = list(upstreams(site, host, phase, catalog))
    return {
        "time_servers": list(site.networks.time_servers),
        "names": list(dict.fromkeys(str(urlsplit(each.address).hostname) for each in elsewhere)),
        "disks": [disk.path for disk in host.disks],
        "peers": list(_peers(site, host, phase)),
        "doors": list(_doors(site, host, phase)),
        "packages": list(
            dict.fromkeys(
                [*headers(site, host), *build_packages(site, host), *(p for u in elsewhere for p in u.packages)]
            )
        ),
        "urls": [each.address for each in elsewhere],
        "flush_folder": ETCD[phase] if is_control(site, host, phase) else "",
        "token_salt": salt,
    }


def headers(site: Site, host: Host) -> tuple[str, ...]:
    """What the driver's module is built from, or comes in, for the kernel that runs ({kernel} is `uname -r`)."""
    if host.gpus is None:
        return ()
    if site.gpu.driver_source == "distribution":
        suffix = "-open" if site.gpu.driver_flavour == "open" else ""
        return (f"linux-modules-nvidia-{site.gpu.driver_branch}-server{suffix}-{{kernel}}",)
    system = host.operating_system or site.operating_system
    # dnf knows a package with its version as NAME-VERSION, and the kernel's own version ends with the machine.
    return ("kernel-devel-{kernel}",) if system.name in {"rocky", "rhel"} else ("linux-headers-{kernel}",)


def build_packages(site: Site, host: Host) -> tuple[str, ...]:
    """What builds it."""
    return ("gcc", "make", "dkms") if host.gpus and site.gpu.driver_source == "nvidia" else ()


def _peers(site: Site, host: Host, phase: Phase) -> Iterator[dict[str, Any]]:
    """Every other host of the phase, on each network that both are in."""
    for peer in site.hosts_in(phase):
        if peer.name == host.name:
            continue
        yield {"name": peer.name, "network": "nodes", "address": str(peer.address), "mtu": site.networks.nodes.mtu}
        if site.networks.storage and host.storage_address and peer.storage_address:
            address, mtu = str(peer.storage_address), site.networks.storage.mtu
            yield {"name": peer.name, "network": "storage", "address": address, "mtu": mtu}


def _doors(site: Site, host: Host, phase: Phase) -> Iterator[dict[str, Any]]:
    """TCP ports of every other host that this one will call."""
    for peer in site.hosts_in(phase):
        if peer.name != host.name:
            ports = [need.port for need in needs(site, peer, phase) if need.protocol == "tcp" and need.port in CALLED]
            yield from ({"name": peer.name, "address": str(peer.address), "port": port} for port in ports)
