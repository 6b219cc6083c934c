"""Units, and what an earlier life of this machine has left."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

from .reading import names, run, text

UNITS = (
    "chrony.service",
    "chronyd.service",
    "containerd.service",
    "dnf-automatic.timer",
    "docker.service",
    "firewalld.service",
    "k3s-agent.service",
    "k3s.service",
    "kubelet.service",
    "nvidia-fabricmanager.service",
    "systemd-timesyncd.service",
    "ufw.service",
    "unattended-upgrades.service",
)
NODE = {f"Id={unit}.service" for unit in ("k3s", "k3s-agent", "kubelet")}
TRACES = (
    "/etc/cni/net.d",
    "/etc/kubernetes",
    "/etc/kubernetes/admin.conf",
    "/etc/kubernetes/kubelet.conf",
    "/etc/kubernetes/manifests",
    "/etc/kubernetes/pki",
    "/etc/rancher/k3s",
    "/run/k3s/containerd/containerd.sock",
    "/usr/bin/nvidia-installer",
    "/usr/bin/nvidia-uninstall",
    "/usr/local/bin/k3s",
    "/var/lib/docker",
    "/var/lib/etcd",
    "/var/lib/kubelet",
    "/var/lib/rancher/k3s/server",
    "/var/lib/rancher/k3s/agent",
)
TOKEN = "/var/lib/rancher/k3s/server/token"  # noqa: S105 - the name of a file
SERVER = re.compile(r"^\s*(?:server:|K3S_URL=)\s*['\"]?(https://\S+?)['\"]?\s*$", re.MULTILINE)
DATASTORE = re.compile(r"^\s*datastore-endpoint:\s*['\"]?([a-z]+)://", re.MULTILINE)
MARK = "/etc/kubernetes/rackwright.yaml"  # the role kubernetes leaves it where it has begun with a node
MARKED = re.compile(r"^(site|api|state): (\S+)$", re.MULTILINE)
PROGRAMS = {"k3s": "/usr/local/bin/k3s", "kubelet": "/usr/bin/kubelet"}
SERVER_FILES = {
    "k3s": ("/etc/rancher/k3s/config.yaml", "/etc/systemd/system/k3s-agent.service.env"),
    "kubeadm": ("/etc/kubernetes/kubelet.conf",),
}


def services() -> dict[str, Any]:
    """Units that matter here, one block each."""
    fields = [part for name in ("Id", "LoadState", "ActiveState", "UnitFileState") for part in ("-p", name)]
    return run(["systemctl", "show", *fields, *UNITS])


def run_a_node(said: dict[str, Any] | None) -> bool:
    """True where a unit of a cluster's runs, by what systemd said of its units."""
    blocks = [set(block.splitlines()) for block in (said or {}).get("out", "").split("\n\n")]
    return any("ActiveState=active" in block and not NODE.isdisjoint(block) for block in blocks)


def leftovers(salt: str) -> dict[str, Any]:
    """Files of other drivers, runtimes and clusters; a token is told by a digest alone."""
    return {
        "paths": [path for path in TRACES if _has_content(Path(path))],
        "servers": {kind: _server(files) for kind, files in SERVER_FILES.items()},
        "mark": dict(MARKED.findall(text(MARK) or "")),
        "datastore": _datastore(),
        "versions": {name: run([program, "--version"]) for name, program in PROGRAMS.items() if Path(program).exists()},
        "token_salt": salt,
        "token_digest": _digest(salt),
    }


def _has_content(path: Path) -> bool:
    """True for a file, and for a folder with something in it."""
    try:
        return bool(names(path)) if path.is_dir() else path.exists()
    except OSError:
        return True  # it is there and may not be looked into


def _server(files: tuple[str, ...]) -> str:
    """The API server that a node was joined to; nothing else of these files leaves the machine."""
    found = [match[1] for file in files if (match := SERVER.search(text(file) or ""))]
    return found[0] if found else ""


def _datastore() -> str:
    """The kind of database that k3s keeps its state in, where that is an external one; the rest is secret."""
    match = DATASTORE.search(text(SERVER_FILES["k3s"][0]) or "")
    return match[1] if match else ""


def _digest(salt: str) -> str:
    """SHA-256 of the run's salt and the part of the token that is secret; empty where there is no token."""
    token = (text(TOKEN) or "").strip().rpartition(":")[2]
    return hashlib.sha256(f"{salt}{token}".encode()).hexdigest() if token and salt else ""
