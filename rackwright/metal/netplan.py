"""The network of an Ubuntu host, as a document of netplan; ports get their names by .link files of ours."""

from collections.abc import Collection, Mapping
from fnmatch import fnmatch
from typing import Any

import yaml

from rackwright.metal.ini import HEAD
from rackwright.metal.links import Link

FOLDER = "/etc/netplan"
FILE = f"{FOLDER}/90-rackwright.yaml"
BUILT = ("bonds", "bridges", "vlans", "tunnels", "vrfs")  # over others
PARAMETERS = {
    "mode": "802.3ad",
    "lacp-rate": "fast",
    "transmit-hash-policy": "layer3+4",
    "mii-monitor-interval": 100,
}


def document(links: tuple[Link, ...]) -> dict[str, Any]:
    """What netplan is told."""
    kinds = {"ethernets": "port", "bonds": "bond", "vlans": "vlan"}
    found = {name: {link.name: _device(link) for link in links if link.kind == kind} for name, kind in kinds.items()}
    return {"network": {"version": 2, **{name: devices for name, devices in found.items() if devices}}}


def files(links: tuple[Link, ...]) -> dict[str, str]:
    """The file, by its path."""
    return {FILE: f"{HEAD}\n{yaml.safe_dump(document(links), sort_keys=False)}"}


def in_the_way(
    found: Mapping[str, str], links: tuple[Link, ...], names: Collection[str], macs: Collection[str]
) -> dict[str, str | None]:
    """Other files without what they say of the site's ports, by their present names or MAC addresses."""
    changed: dict[str, str | None] = {}
    for path, text in found.items():
        if path.startswith(f"{FOLDER}/") and path.endswith(".yaml") and path != FILE:
            before = yaml.safe_load(text) or {}
            after = without(before, {link.name for link in links}, names, macs)
            if after != before:
                changed[path] = f"{HEAD}\n{yaml.safe_dump(after, sort_keys=False)}" if _says(after) else None
    return changed


def without(
    before: dict[str, Any], wished: Collection[str], names: Collection[str], macs: Collection[str]
) -> dict[str, Any]:
    """A document without definitions that touch ports of a present name or MAC address, and what is over those."""
    network = before.get("network") or {}
    gone = {
        name
        for name, device in (network.get("ethernets") or {}).items()
        if _touches(name, device or {}, wished, names, macs)
    }
    gone |= {name for kind in BUILT for name in network.get(kind) or {} if name in wished}
    while over := {
        name
        for kind in BUILT
        for name, device in (network.get(kind) or {}).items()
        if name not in gone and gone & {*(device or {}).get("interfaces", ()), (device or {}).get("link")}
    }:
        gone |= over
    kept = {
        kind: {name: device for name, device in devices.items() if name not in gone}
        if kind in ("ethernets", *BUILT) and isinstance(devices, dict)
        else devices
        for kind, devices in network.items()
    }
    emptied = {kind for kind, devices in kept.items() if not devices and network[kind]}
    return {**before, "network": {kind: devices for kind, devices in kept.items() if kind not in emptied}}


def _touches(
    name: str, device: dict[str, Any], wished: Collection[str], names: Collection[str], macs: Collection[str]
) -> bool:
    """A pattern such as en* is let be: it no longer matches the new names, and may serve ports of no concern here."""
    match = device.get("match")
    if not match:
        return name in names or name in wished
    if "macaddress" in match:
        return str(match["macaddress"]).lower() in macs
    if "name" in match:
        patterns = match["name"] if isinstance(match["name"], list) else [match["name"]]
        return any(pattern in names or any(fnmatch(each, pattern) for each in wished) for pattern in patterns)
    return True  # by its driver, which may be the site's ports'


def _says(document: dict[str, Any]) -> bool:
    return bool(set(document.get("network") or {}) - {"version", "renderer"})


def _device(link: Link) -> dict[str, Any]:
    device: dict[str, Any] = {"renderer": "networkd", "mtu": link.mtu, "dhcp4": False, "accept-ra": False}
    if not link.is_needed:
        device["optional"] = True
    if link.kind == "bond":
        device |= {"interfaces": list(link.members), "parameters": PARAMETERS}
        if link.mac:
            device["macaddress"] = link.mac
    if link.kind == "vlan":
        device |= {"id": link.tag, "link": link.over}
    if link.bond is None:
        device["ignore-carrier"] = True
    if link.address is None:
        device["link-local"] = []
    else:
        device["addresses"] = [str(link.address)]
    if link.gateway is not None:
        metric = {"metric": link.metric} if link.metric else {}
        device["routes"] = [{"to": "default", "via": str(link.gateway), **metric}]
    if link.name_servers:
        device["nameservers"] = {"addresses": list(link.name_servers), "search": ["~."]}
    return device
