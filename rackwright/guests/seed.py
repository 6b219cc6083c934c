"""What is a guest's own: laid over its root file system before its first start, as an installer would leave it."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass

from rackwright.guests import hardware, system
from rackwright.guests.cabling import node_ports
from rackwright.site.hosts import Host
from rackwright.site.site import Site

PRIVATE = {"etc/ssh/ssh_host_ed25519_key", "root/.ssh/authorized_keys"}
BLOCK = 512
CPIO_END = "TRAILER!!!"


@dataclass(frozen=True)
class Keys:
    """Throw-away keys: what lets us in, and what the guest shows for itself."""

    authorized: str
    host_private: str
    host_public: str


def files(site: Site, host: Host, keys: Keys, identity: str) -> dict[str, str]:
    """The guest's own files by path; `identity` tells its machine id from that of the same host in another rack."""
    rules = hardware.device_rules(site.name, host)
    return {
        "etc/hostname": f"{host.name}\n",
        "etc/hosts": f"127.0.0.1 localhost\n127.0.1.1 {host.name}\n",
        "etc/machine-id": hashlib.sha256(f"{identity}/{host.name}".encode()).hexdigest()[:32] + "\n",
        "etc/ssh/ssh_host_ed25519_key": keys.host_private,
        "etc/ssh/ssh_host_ed25519_key.pub": keys.host_public,
        "root/.ssh/authorized_keys": keys.authorized,
        **{f"etc/udev/rules.d/{name}": text for name, text in rules.items()},
        **{f"etc/systemd/network/{name}": text for name, text in _network(site, host).items()},
    }


def archive(contents: Mapping[str, str]) -> bytes:
    """The files as a tar archive of root's."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        folder = tarfile.TarInfo("root/.ssh")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o700
        tar.addfile(folder)
        for name, text in contents.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(text.encode()), 0o600 if name in PRIVATE else 0o644
            tar.addfile(member, io.BytesIO(text.encode()))
    return buffer.getvalue()


def appended(initrd: bytes, contents: Mapping[str, str]) -> bytes:
    """An initial RAM disk with the archive behind it; the kernel looks for a further piece at whole blocks alone."""
    piece = _cpio(system.SEED, archive(contents)) + _cpio(CPIO_END, b"")
    return initrd + bytes(-len(initrd) % BLOCK) + piece


def _cpio(name: str, data: bytes) -> bytes:
    """One file in the only form of cpio that the kernel reads."""
    encoded = name.encode() + b"\0"
    fields = (0, 0o100600, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(encoded), 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
    return _padded(head) + _padded(data)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _network(site: Site, host: Host) -> dict[str, str]:
    """One address on the first port of the node network; there is no bond yet."""
    names, tag = node_ports(host)
    nic = next(each for each in host.nics if each.name == names[0])
    match = f"[Match]\nPermanentMACAddress={hardware.mac(site.name, host, nic)}\n"
    address = _address(site, host)
    if not tag:
        return {"10-installer.network": f"{match}{address}"}
    return {
        "10-installer.network": f"{match}[Network]\nLinkLocalAddressing=no\nVLAN=installer\n",
        "11-installer.netdev": f"[NetDev]\nName=installer\nKind=vlan\n[VLAN]\nId={tag}\n",
        "12-installer.network": f"[Match]\nName=installer\n{address}",
    }


def _address(site: Site, host: Host) -> str:
    network = site.networks.nodes
    lines = ["[Network]", f"Address={host.address}/{network.cidr.prefixlen}"]
    lines += [f"Gateway={network.gateway}"] if network.gateway else []
    lines += [f"DNS={server}" for server in site.networks.name_servers]
    return "\n".join(lines) + "\n"
