"""What tells one machine from another stands once on a site."""

from collections.abc import Iterator
from typing import get_args

from rackwright.site.hosts import Host, Role
from rackwright.site.reading.faults import Place, spell
from rackwright.site.reading.judge import Broken
from rackwright.site.reading.repeats import Entry, repeats
from rackwright.site.reading.unknown import is_known, look

GROUPS = frozenset({"all", "gpu", "localhost", "phase1", "phase2", "ungrouped", *get_args(Role)})


def host_names_are_unique(hosts: tuple[Host, ...]) -> Iterator[Broken]:
    """A name is a node of Kubernetes and a host of Ansible."""
    for place, name, first in repeats((("hosts", i, "name"), look(host, "name")) for i, host in enumerate(hosts)):
        yield Broken(place, f"is {name}, as {spell(first)} is", "give each host a name of its own")


def addresses_are_unique(hosts: tuple[Host, ...]) -> Iterator[Broken]:
    """Two machines at one address answer in turns."""
    entries = (
        (("hosts", index, key), look(host, key))
        for index, host in enumerate(hosts)
        for key in ("address", "storage_address")
    )
    for place, address, first in repeats(entries):
        yield Broken(place, f"is {address}, as {spell(first)} is", "give each port an address of its own")


def macs_are_unique(hosts: tuple[Host, ...]) -> Iterator[Broken]:
    """A MAC address is one port of one machine; written twice, two ports would get one name."""
    for place, mac, first in repeats(_parts(hosts, "nics", "mac")):
        yield Broken(place, f"is {mac}, as {spell(first)} is", "write the address that this very port has")


def disks_are_unique(hosts: tuple[Host, ...]) -> Iterator[Broken]:
    """A drive's name holds its serial number, so it is in one machine only."""
    for place, path, first in repeats(_parts(hosts, "disks", "path")):
        yield Broken(place, f"is {path}, as {spell(first)} is", "name each drive once, in the machine that holds it")


def host_names_are_free(host: Host, place: Place) -> Iterator[Broken]:
    """A host with the name of a group would be the whole group to Ansible."""
    if host.name in GROUPS:
        yield Broken(
            (*place, "name"),
            f"is {host.name}, the name of a group of hosts in Ansible's inventory",
            f"name it otherwise, for example {host.name}-01",
        )


def macs_are_of_one_port(host: Host, place: Place) -> Iterator[Broken]:
    """Group addresses and zeros are no port's own."""
    for index, nic in enumerate(host.nics):
        mac = look(nic, "mac")
        if is_known(mac) and mac is not None and (int(mac[:2], 16) % 2 or mac == "00:00:00:00:00:00"):
            yield Broken(
                (*place, "nics", index, "mac"),
                f"is {mac}, a group's address and no port's own",
                "write what `ip link` shows behind link/ether",
            )


def _parts(hosts: tuple[Host, ...], part: str, key: str) -> Iterator[Entry]:
    for index, host in enumerate(hosts):
        parts = look(host, part)
        if is_known(parts):
            yield from ((("hosts", index, part, inner, key), look(each, key)) for inner, each in enumerate(parts))
