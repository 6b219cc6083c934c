"""A model whose prompts are computed apart: what its engines are told more, and who stands before those that answer.

A request comes to a replica that answers, at the port where every replica is asked. There the door reads which other
replica the router named, has the prompt computed by it, and hands the request on with word of where the cache lies;
the engine then reads it out of the other's GPUs. A request without such a name goes straight to the engine.
"""

import json
from typing import Any

from components.base import Manifest
from components.base.network import from_peers, policy, to_peers
from components.base.pods import shut_in
from components.vllm.arguments import PORT
from components.vllm.pod import labels
from components.vllm.weights import NO_GPU, Container
from rackwright.site.catalog import Image
from rackwright.site.halves import Group, Half, groups
from rackwright.site.models import Model
from rackwright.site.node_marks import PREFIX
from rackwright.site.rdma_ports import RESOURCE

ENGINE_PORT = 8200  # of an engine behind a door
DOOR_IDLE_S = 90  # so long the door keeps an idle connection to an engine, by its source (newProxyTransport)
SIDE_PORT = 5600  # where engines say which memory of theirs may be read
ROLE = "llm-d.ai/role"  # the router's filters look for it
MODEL = f"{PREFIX}/model"
ROLES: dict[Half, str] = {"prefill": "kv_producer", "decode": "kv_consumer"}
# Caches move by RDMA or not at all: over TCP, which UCX would take without a word, they move at a tenth of the line.
UCX = {
    "UCX_TLS": "rc,cuda_copy",
    "UCX_IB_ROCE_REACHABILITY_MODE": "all",  # the ports' routes are the host's, which a pod does not see
    "UCX_IB_TRAFFIC_CLASS": "106",  # DSCP 26, the lossless priority that the role network sets
}


def halved(pods: Manifest, group: Group, *, door: Image, network: str) -> Manifest:
    """A StatefulSet of one half, whose caches move over a network; those that answer have a door before them."""
    half = group.half
    if half is None:
        return pods
    spec, template = pods["spec"], pods["spec"]["template"]
    (engine,) = template["spec"]["containers"]
    changed: dict[str, Any] = {"containers": [_engine(engine, group, half, network)]}
    if half == "decode":
        changed["initContainers"] = [*template["spec"]["initContainers"], _door(door)]
    marks = template["metadata"]["labels"] | {ROLE: half, MODEL: group.served}
    made = {"metadata": template["metadata"] | {"labels": marks}, "spec": template["spec"] | changed}
    return pods | {"spec": spec | {"template": made}}


def pool_labels(model: Model) -> dict[str, str]:
    """What tells all replicas of a model from those of others, of whichever half."""
    if model.phase2.disaggregation is None:
        return labels(model)
    return {"app.kubernetes.io/name": "vllm", MODEL: model.name}


def ways_between(model: Model) -> list[Manifest]:
    """From those that answer to those that compute, to ask them and to learn of their memory; nowhere else.

    What RDMA carries no policy sees.
    """
    if model.phase2.disaggregation is None:
        return []
    answering, computing = (labels(each.model) for each in groups(model, model.phase2))
    at = (PORT, SIDE_PORT)
    asks = to_peers([{"podSelector": {"matchLabels": computing}}], *at)
    is_asked = from_peers([{"podSelector": {"matchLabels": answering}}], *at)
    return [
        policy(f"{model.name}-asks", egress=[asks], pods=answering),
        policy(f"{model.name}-is-asked", ingress=[is_asked], pods=computing),
    ]


def _engine(engine: Container, group: Group, half: Half, network: str) -> Container:
    port, name = (ENGINE_PORT, "engine") if half == "decode" else (PORT, "http")
    probes = {
        key: each | {"httpGet": each["httpGet"] | {"port": name}} for key, each in engine.items() if "Probe" in key
    }
    devices = {RESOURCE: "1"}
    resources = {key: each | devices for key, each in engine["resources"].items()}
    ports = [{"name": name, "containerPort": port}, {"name": "side-channel", "containerPort": SIDE_PORT}]
    words = [*_words(engine["command"], group, port), f"--kv-transfer-config={_transfer(half)}"]
    changed = {"command": words, "env": [*engine["env"], *_environment(network)]}
    return engine | probes | changed | {"ports": ports, "resources": resources}


def _words(command: list[str], group: Group, port: int) -> list[str]:
    """Those that compute are asked by the model's own name; their figures bear theirs, which is said first."""
    said = {
        f"--port={PORT}": [f"--port={port}"],
        f"--served-model-name={group.model.name}": [
            "--served-model-name",
            *dict.fromkeys((group.model.name, group.served)),
        ],
    }
    return [new for word in command for new in said.get(word, [word])]


def _transfer(half: Half) -> str:
    told = {
        "kv_connector": "NixlConnector",
        "kv_role": ROLES[half],
        # What could not be read, since its replica has gone, is computed by the one that answers: late, not refused.
        "kv_load_failure_policy": "recompute",
        "kv_connector_extra_config": {"backends": ["UCX"]},
    }
    return json.dumps(told, separators=(",", ":"))


def _environment(network: str) -> list[dict[str, Any]]:
    own = {"fieldRef": {"fieldPath": "status.podIP"}}  # its default, localhost, would lead the other half to itself
    return [
        {"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "valueFrom": own},
        {"name": "VLLM_NIXL_SIDE_CHANNEL_PORT", "value": str(SIDE_PORT)},
        *({"name": name, "value": value} for name, value in UCX.items()),
        # Of a port's addresses UCX would take the first of RoCE v2 and IPv4, of whichever network; each side by itself,
        # so that their indexes need not be alike.
        {"name": "UCX_IB_ROCE_SUBNETS", "value": network},
    ]


def door_arguments(port: int, engine_port: int) -> list[str]:
    """Flags of the door; policies let nobody but the gateway, the router and Prometheus come to it."""
    return [
        f"--port={port}",
        f"--model-server-port={engine_port}",
        "--kv-connector=nixlv2",
        "--secure-proxy=false",  # its default is TLS
    ]


def _door(image: Image) -> Container:
    """A container that starts before the engine and ends after it, since requests in flight pass through it."""
    return {
        "name": "door",
        "image": image.reference,
        "restartPolicy": "Always",
        "command": ["/app/pd-sidecar", *door_arguments(PORT, ENGINE_PORT)],
        "env": [NO_GPU],
        "ports": [{"name": "http", "containerPort": PORT}],
        # It holds each request whole while the prompt is computed.
        "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "4Gi"}},
        "securityContext": shut_in(),
        "startupProbe": {
            "httpGet": {"path": "/health", "port": "http"},
            "periodSeconds": 1,
            "timeoutSeconds": 2,
            "failureThreshold": 60,
        },
    }
