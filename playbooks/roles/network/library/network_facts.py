#!/usr/bin/python
"""Reads the network of a host: ports, links, addresses, routes, and the files that configure them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = """
module: network_facts
short_description: Reads the network of a host
author: Rackwright
description:
  - Ports with their built-in MAC address, place on the bus and driver; links, addresses and default routes as iproute2
    shows them; name servers that are asked now; and texts of files that configure the network.
  - Changes nothing, with and without check mode.
options: {}
"""

EXAMPLES = """
- name: Read the network
  network_facts:
  register: __network_found
"""

LINKS = Path("/sys/class/net")
ROOT = Path("/")
FILES = (
    "etc/netplan/*.yaml",
    "etc/systemd/network/*.link",
    "etc/systemd/network/*.netdev",
    "etc/systemd/network/*.network",
    "etc/network/interfaces",
    "etc/network/interfaces.d/*",
    "etc/NetworkManager/system-connections/*",
    "etc/sysconfig/network-scripts/ifcfg-*",
)
CLOUD_INIT = Path("/etc/cloud/cloud.cfg.d/99-rackwright-network.cfg")
RESOLVERS = (Path("/run/systemd/resolve/resolv.conf"), Path("/etc/resolv.conf"))  # behind resolved's own, where it runs


def main() -> None:
    """Answer; iproute2 is all that is started."""
    module = AnsibleModule(argument_spec={}, supports_check_mode=True)
    links = _ip(module, "-d", "link", "show")
    module.exit_json(
        changed=False,
        ports=_ports(links),
        links=links,
        addresses=_ip(module, "address", "show"),
        routes=_ip(module, "route", "show", "default"),
        files=_files(),
        name_servers=_name_servers(),
    )


def _ip(module: AnsibleModule, *arguments: str) -> list[dict[str, Any]]:
    _, out, _ = module.run_command(["ip", "-j", *arguments], check_rc=True)
    return [each for each in json.loads(out or "[]") if each]


def _ports(links: list[dict[str, Any]]) -> dict[str, dict[str, str]]:
    found = {}
    for link in links:
        device = LINKS / link["ifname"] / "device"
        if device.exists():
            found[link["ifname"]] = {
                "mac": (link.get("permaddr") or link.get("address") or "").lower(),
                "path": _path(device),
                "driver": (device / "driver").resolve().name,
            }
    return found


def _path(device: Path) -> str:
    """ID_PATH of udev's, by which .link files match; before udev has seen the port, its place on the PCI bus."""
    index = (device.parent / "ifindex").read_text().strip()
    for line in (_text(Path("/run/udev/data") / f"n{index}") or "").splitlines():
        if line.startswith("E:ID_PATH="):
            return line[len("E:ID_PATH=") :]
    return f"pci-{device.resolve().name}"


def _files() -> dict[str, str]:
    """Texts by path; cloud-init's switch is told, empty, where cloud-init is and the switch is not."""
    found = {str(path): _text(path) for pattern in FILES for path in sorted(ROOT.glob(pattern))}
    if CLOUD_INIT.parent.is_dir():
        found[str(CLOUD_INIT)] = _text(CLOUD_INIT) or ""
    return {path: text for path, text in found.items() if text is not None}


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, IsADirectoryError):
        return None


def _name_servers() -> list[str]:
    text = next((found for found in map(_text, RESOLVERS) if found is not None), "")
    fields = [line.split() for line in text.splitlines()]
    servers = [each[1] for each in fields if len(each) > 1 and each[0] == "nameserver"]
    return [server for server in servers if "." in server and not server.startswith("127.")][:3]


if __name__ == "__main__":
    main()
