"""A simulated rack whose pickers find the replicas, and how urgent requests are, in a real Kubernetes API.

Pool, objectives, kinds and rights are those of the component. Played is one pod: it has the address of loopback and is
Ready, so each port of the pool there is a replica. Pickers act as the component's account, with no rights but its own.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from simulated_rack import MODEL, Rack

from components.base.component import namespace
from components.llm_d.definitions import definitions
from components.llm_d.objects import ACCOUNT, account, binding, objectives, pool, role
from components.vllm.pod import labels
from rackwright.sandbox.control_plane import ControlPlane

ENGINES, ROUTER = "models", "router"


@dataclass
class ClusterRack(Rack):
    """Replicas, pickers and a proxy that run beside a control plane; the first picker is the one that is asked."""

    cluster: ControlPlane | None = None

    def list_replicas(self, ports: list[int]) -> None:
        """Lay the pool with a replica a port, and what pickers read beside it; and let them in."""
        assert self.cluster is not None
        self.cluster.apply([namespace(ENGINES, "baseline"), namespace(ROUTER, "restricted"), *definitions()])
        self.cluster.kubectl.wait_for(*(f"crd/{each['metadata']['name']}" for each in definitions()),
                                      condition="Established")  # fmt: skip
        replicas = pool(MODEL, selector=labels(MODEL), port=ports[0])
        replicas["spec"]["targetPorts"] = [{"number": port} for port in ports]
        read = [role(), binding(ROUTER), replicas, *objectives(MODEL), _pod()]
        self.cluster.apply([_in(ROUTER, account()), *(_in(ENGINES, each) for each in read)])
        self.cluster.kubectl("patch", "pod", MODEL.name, f"--namespace={ENGINES}", "--subresource=status",
                             "--type=merge", "--patch", json.dumps({"status": _ready()}))  # fmt: skip
        self.kubeconfig = self._admitted(self.cluster)

    def _admitted(self, cluster: ControlPlane) -> Path:
        """The way in of the component's account."""
        token = cluster.kubectl("create", "token", ACCOUNT, f"--namespace={ROUTER}", "--duration=2h").strip()
        way = yaml.safe_load(cluster.kubeconfig.read_text())
        way["users"] = [{"name": user["name"], "user": {"token": token}} for user in way["users"]]
        file = self.folder / "kubeconfig"
        file.touch(mode=0o600)
        file.write_text(yaml.safe_dump(way))
        return file


def _in(space: str, manifest: dict[str, Any]) -> dict[str, Any]:
    return {**manifest, "metadata": {**manifest["metadata"], "namespace": space}}


def _pod() -> dict[str, Any]:
    """The pod that stands for the replicas; no scheduler takes it, so nobody else says how it is."""
    spec = {"schedulerName": "nobody", "containers": [{"name": "engine", "image": "simulated"}]}
    metadata = {"name": MODEL.name, "labels": labels(MODEL)}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _ready() -> dict[str, Any]:
    ready = {"type": "Ready", "status": "True"}
    return {"phase": "Running", "podIP": "127.0.0.1", "podIPs": [{"ip": "127.0.0.1"}], "conditions": [ready]}
