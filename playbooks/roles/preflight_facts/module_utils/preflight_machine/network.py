"""Ports, addresses, RDMA, and what stands between this machine and its peers."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from .probes import knock
from .reading import names, run, text, word

LINKS = Path("/sys/class/net")
RDMA = Path("/sys/class/infiniband")
ZERO_GID = "0000:0000:0000:0000:0000:0000:0000:0000"
HEADERS = 28  # bytes of IPv4 and ICMP around a ping
ROUND_TRIPS = 5
AT_ONCE = 32


def network() -> dict[str, Any]:
    """Ports as they are now, with addresses and the default route."""
    return {
        "links": run(["ip", "-j", "-d", "link"]),
        "addresses": run(["ip", "-j", "address"]),
        "default_routes": run(["ip", "-j", "route", "show", "default"]),
        "ports": {name: _port(LINKS / name) for name in names(LINKS) if (LINKS / name / "device").exists()},
        "rdma": [_rdma(RDMA / name) for name in names(RDMA)],
        "listening": run(["ss", "-Hltunp"]),
    }


def paths(peers: list[dict[str, Any]], doors: list[dict[str, Any]]) -> dict[str, Any]:
    """Round trips and largest packets to each peer, and what its ports answer, all at the same time."""
    sizes = [(peer, size) for peer in peers for size in (56, int(peer["mtu"]) - HEADERS)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        pings = list(pool.map(lambda each: _ping(*each), sizes))
        knocks = list(pool.map(lambda door: {**door, "answer": knock(door["address"], int(door["port"]))}, doors))
    return {"pings": pings, "doors": knocks}


def _ping(peer: dict[str, Any], size: int) -> dict[str, Any]:
    command = ["ping", "-n", "-c", str(ROUND_TRIPS), "-i", "0.2", "-W", "1", "-M", "do", "-s", str(size)]
    return {**peer, "bytes": size + HEADERS, **run([*command, str(peer["address"])])}


def _port(path: Path) -> dict[str, Any]:
    udev = text(f"/run/udev/data/n{word(path / 'ifindex')}")
    found = [line[len("E:ID_PATH=") :] for line in (udev or "").splitlines() if line.startswith("E:ID_PATH=")]
    slot = os.path.basename(os.path.realpath(path / "device"))  # noqa: PTH119 - a name is wanted
    return {
        "path": found[0] if found else f"pci-{slot}",
        "speed": word(path / "speed"),
        "carrier": word(path / "carrier"),
    }


def _rdma(path: Path) -> dict[str, Any]:
    vital = text(path / "device" / "vpd") or ""
    return {
        "name": path.name,
        "ports": names(path / "device" / "net"),
        "manages_switches": "SW_MNG" in vital,
        "link_layer": word(path / "ports" / "1" / "link_layer"),
        "gids": _gids(path / "ports" / "1"),
    }


def _gids(port: Path) -> list[dict[str, Any]]:
    found = []
    for index in names(port / "gids"):
        gid = word(port / "gids" / index)
        if gid and gid != ZERO_GID:
            kind = word(port / "gid_attrs" / "types" / index)
            found.append({"index": int(index), "gid": gid, "type": kind})
    return found
