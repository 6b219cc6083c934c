"""Starting a control plane's programs through kwokctl, and saying why they did not start."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import yaml

from rackwright.errors import Refusal
from rackwright.sandbox import ports, processes
from rackwright.sandbox.tools import TOOLS, Toolbox, cache_folder
from rackwright.sandbox.tools.declaration import FAMILIES

CLUSTER = "rehearsal"
SECONDS_TO_START = 120
# Nobody would answer a webhook, and the API server would dial the Service's address, which here is somebody else's.
ADMISSION_OFF = "MutatingAdmissionWebhook,ValidatingAdmissionWebhook"
OPTIONS = {  # kwokctl's name for a program's path, and our name for the program
    "etcdBinary": "etcd",
    "kubeApiserverBinary": "kube-apiserver",
    "kubeControllerManagerBinary": "kube-controller-manager",
    "kubeSchedulerBinary": "kube-scheduler",
    "kubectlBinary": "kubectl",
    "kwokControllerBinary": "kwok",
}
PORTS = ("etcdPort", "etcdPeerPort", "kubeControllerManagerPort", "kubeSchedulerPort", "kwokControllerPort")


@dataclass(frozen=True)
class Networks:
    """Where pods and services get their addresses."""

    pods: IPv4Network
    services: IPv4Network


# What k3s takes where nothing is said.
NETWORKS = Networks(pods=IPv4Network("10.42.0.0/16"), services=IPv4Network("10.43.0.0/16"))


class PortTaken(Exception):  # noqa: N818 - it is answered by trying again
    """A free port was taken before a program came to it."""


def configuration(toolbox: Toolbox, port: int, networks: Networks) -> dict[str, Any]:
    """What kwokctl is told."""
    options: dict[str, Any] = {
        "runtime": "binary",
        "bindAddress": ports.ADDRESS,
        "kubeVersion": FAMILIES[TOOLS["kube-apiserver"].family].version,
        "kubeApiserverPort": port,
        "enableCRDs": ["Stage"],
        "disableQPSLimits": True,
        **{option: str(toolbox[name].path) for option, name in OPTIONS.items()},
        **dict(zip(PORTS, ports.free(len(PORTS)), strict=True)),
    }
    patches = {
        "etcd": {"unsafe-no-fsync": "true"},  # nothing here outlives a crash of the machine
        "kube-apiserver": {
            "disable-admission-plugins": ADMISSION_OFF,
            "service-cluster-ip-range": str(networks.services),
        },
        "kwok-controller": {"cidr": str(networks.pods)},
    }
    return {
        "kind": "KwokctlConfiguration",
        "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
        "options": options,
        "componentsPatches": [
            {"name": name, "extraArgs": [{"key": key, "value": value} for key, value in arguments.items()]}
            for name, arguments in patches.items()
        ],
    }


def start(folder: Path, toolbox: Toolbox, configured: dict[str, Any]) -> None:
    """Bring the programs up in a folder and wait until the API answers; a Refusal or PortTaken if it never does."""
    file = folder / "kwokctl.yaml"
    file.write_text(yaml.safe_dump(configured))
    arguments = ["create", "cluster", f"--wait={SECONDS_TO_START}s", f"--kubeconfig={folder / 'kwokctl.kubeconfig'}"]
    _run(folder, toolbox, *arguments, f"--config={file}")


def stop(folder: Path, toolbox: Toolbox) -> None:
    """Let the programs end well, so that their data can be copied."""
    _run(folder, toolbox, "stop", "cluster")


def start_again(folder: Path, toolbox: Toolbox) -> None:
    """Bring up programs that were stopped, with the ports and data that they have."""
    _run(folder, toolbox, "start", "cluster", f"--wait={SECONDS_TO_START}s")


def data(folder: Path) -> Path:
    """Where etcd keeps everything."""
    return _state(folder) / "etcd"


def kubeconfig(folder: Path, name: str, port: int) -> dict[str, Any]:
    """A kubeconfig that holds its keys itself, so that it can be handed on as text."""
    keys = _state(folder) / "pki"
    ca, certificate, key = (
        base64.b64encode((keys / file).read_bytes()).decode() for file in ("ca.crt", "admin.crt", "admin.key")
    )
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [
            {"name": name, "cluster": {"server": f"https://{ports.ADDRESS}:{port}", "certificate-authority-data": ca}}
        ],
        "users": [{"name": name, "user": {"client-certificate-data": certificate, "client-key-data": key}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
    }


def _state(folder: Path) -> Path:
    return folder / "kwok" / "clusters" / CLUSTER


def _run(folder: Path, toolbox: Toolbox, *arguments: str) -> None:
    # A user's own KWOK_... would be heard before our file.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("KWOK_")}
    ours = {"KWOK_WORKDIR": str(folder / "kwok"), "KUBECONFIG": "", "KUBECACHEDIR": str(folder / "cache")}
    log = folder / "kwokctl.log"
    with (
        log.open("w") as output,
        subprocess.Popen(
            [toolbox["kwokctl"].path, *arguments, f"--name={CLUSTER}"],
            env={**inherited, **processes.marked(folder), **ours},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            umask=0o077,  # the keys are written readable for all otherwise
            start_new_session=True,  # Ctrl-C is for us: what was started is ended by its folder
        ) as process,
    ):
        try:
            _watch(process, folder)
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise _explain(folder, log)


def _watch(process: subprocess.Popen[bytes], folder: Path) -> None:
    """Wait for kwokctl; it would itself wait two minutes for a program that has died long ago."""
    deadline = time.monotonic() + SECONDS_TO_START
    while process.poll() is None:
        time.sleep(0.05)
        if fault := _fault(folder):
            raise fault
        if time.monotonic() > deadline:
            raise _explain(folder, folder / "kwokctl.log")


def _fault(folder: Path) -> Exception | None:
    """A reason why a program cannot have come up, from the logs."""
    for log in (_state(folder) / "logs").glob("*.log"):
        said = log.read_text(errors="replace").lower()
        if "address already in use" in said:
            return PortTaken(log.stem)
        if "no space left on device" in said:
            return Refusal(f"The disk of {folder} is full, so the control plane does not start.", "Free some space.")
    return None


def _explain(folder: Path, log: Path) -> Exception:
    fault = _fault(folder)
    if fault:
        return fault
    saved = cache_folder() / "logs" / folder.name
    shutil.copytree(_state(folder) / "logs", saved) if (_state(folder) / "logs").exists() else saved.mkdir(parents=True)
    shutil.copy(log, saved)
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return Refusal(
        f"The control plane did not come up. The last word was: {lines[-1] if lines else 'nothing'}",
        f"Run this again if the machine was very busy; the logs are in {saved}.",
    )
