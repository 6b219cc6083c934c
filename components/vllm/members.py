"""A model of which a replica takes several hosts: a pod on each, of which one leads and answers, as one group.

The engine's own way over hosts (vLLM 0.30, `--nnodes` with its multiprocessing executor, no Ray): each pod runs the
stages that it holds, the leader schedules for all. A group is whole or useless, so it is made anew as a whole.
"""

from pathlib import Path
from typing import Any

from components.base import Manifest
from components.base.network import policy
from components.vllm.arguments import command
from components.vllm.pod import engine, labels, named, template, wish
from components.vllm.spread import placement
from components.vllm.timing import DRAIN_S, END_S, LEAVE_S, grace_s
from components.vllm.weights import Container
from rackwright.site.catalog import Image
from rackwright.site.gpu import Gpu
from rackwright.site.halves import Group
from rackwright.site.lws_names import LEADER, NUMBER, leading
from rackwright.site.models import Model
from rackwright.site.rdma_ports import RESOURCE
from rackwright.site.storage_classes import storage_class

API = "leaderworkerset.x-k8s.io/v1"
MEETING_PORT = 29501  # the engine's default: where the pods of a group find each other
NETWORK = "eth0"  # the interface that every pod has
HERE = Path(__file__).parent
# Stages hand on by RDMA where every host has it, in the lossless priority that the role network sets (DSCP 26).
BY_RDMA = {"NCCL_IB_TC": "106", "NCCL_IB_ADDR_FAMILY": "AF_INET"}
BY_TCP = {"NCCL_IB_DISABLE": "1"}


def leader_worker_set(
    group: Group, *, image: Image, before: list[Container], gpu: Gpu, rdma: str | None, counted: bool = False
) -> Manifest:
    """The groups of a model, replaced one by one in place: no rollout ever waits for GPUs beside those that it has.

    `rdma` is the network of the ports by which stages hand on; None where they do over the pods' own.
    Each pod keeps its volume, and so comes back to its own host only. While one of a group is not there yet, none of
    the others is ended for having waited in vain: a first start may take hours on one host, a drained one is away.
    """
    model, words = group.model, command(group.model, group.serving, routed=True, counted=counted)
    leads = engine(group.part, [*words, *_joining(group)], image, gpu, hosts=group.hosts)
    follows = _following(engine(group.part, [*words, *_joining(group), "--headless"], image, gpu, hosts=group.hosts))
    claimed = "models"  # the name by which the containers mount it
    made = {}
    for name, served_by, grace in (("leader", leads, grace_s()), ("worker", follows, grace_s() + END_S)):
        whole = template(group.part, before, _joined(served_by, rdma))
        volumes = [volume for volume in whole["spec"]["volumes"] if volume["name"] != claimed]
        changed = {"volumes": volumes, "terminationGracePeriodSeconds": grace}
        made[f"{name}Template"] = whole | {"spec": whole["spec"] | placement(group.part, labels(model)) | changed}
    spec = {
        "replicas": group.serving.replicas,
        "startupPolicy": "LeaderCreated",
        "networkConfig": {"subdomainPolicy": "UniquePerReplica"},  # a name that leads to a pod before it is ready
        "rolloutStrategy": {
            "type": "RollingUpdate",
            "rollingUpdateConfiguration": {"partition": 0, "maxUnavailable": 1, "maxSurge": 0},
        },
        "leaderWorkerTemplate": made
        | {
            "size": group.hosts,
            "restartPolicy": "RecreateGroupAfterStart",
            "volumeClaimTemplates": [
                {"metadata": {"name": claimed}, "spec": wish(model, storage_class("models"))},
            ],
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Delete"},
        },
    }
    return {"apiVersion": API, "kind": "LeaderWorkerSet", "metadata": named(model), "spec": spec}


def group_budget(group: Group) -> Manifest:
    """A drain may take one host, and with it one replica; a lone one goes whenever it must.

    Pods of a replica that is not ready hold up no drain.
    """
    most = 1 if group.serving.replicas > 1 else group.hosts
    selected = {"matchLabels": labels(group.model)}
    spec = {"maxUnavailable": most, "unhealthyPodEvictionPolicy": "AlwaysAllow", "selector": selected}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": named(group.model), "spec": spec}


def ways_among(model: Model) -> Manifest:
    """Between the pods of a model, at whatever port: the engine, NCCL and Gloo take what is free."""
    others = [{"podSelector": {"matchLabels": labels(model)}}]
    return policy(f"{model.name}-group", ingress=[{"from": others}], egress=[{"to": others}], pods=labels(model))


def answering(model: Model) -> dict[str, str]:
    """What tells the pods that answer from those that follow them."""
    return leading(labels(model))


def _joining(group: Group) -> list[str]:
    return [
        "--distributed-executor-backend=mp",
        f"--nnodes={group.hosts}",
        f"--node-rank={NUMBER}",
        f"--master-addr={LEADER}",
        f"--master-port={MEETING_PORT}",
    ]


def _joined(served_by: Container, rdma: str | None) -> Container:
    own: list[dict[str, Any]] = [
        {"name": "VLLM_HOST_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "NCCL_SOCKET_IFNAME", "value": NETWORK},
        {"name": "GLOO_SOCKET_IFNAME", "value": NETWORK},
    ]
    # NCCL chooses the address itself, on each host its own: of this network, whatever its index there.
    way = BY_RDMA | {"NCCL_IB_ADDR_RANGE": rdma} if rdma else BY_TCP
    carried = [{"name": name, "value": value} for name, value in way.items()]
    resources = served_by["resources"]
    if rdma:
        resources = {key: each | {RESOURCE: "1"} for key, each in resources.items()}
    return served_by | {"env": [*served_by["env"], *own, *carried], "resources": resources}


def _following(served_by: Container) -> Container:
    """No port and so no probe: when its engine ends, the container does, and with it the group."""
    script = (HERE / "stay_joined.py").read_text()
    most = LEAVE_S + DRAIN_S + END_S
    stay = {"exec": {"command": ["python3", "-c", script, str(MEETING_PORT), str(most)]}}
    kept = {key: each for key, each in served_by.items() if key != "ports" and not key.endswith("Probe")}
    return kept | {"lifecycle": {"preStop": stay}}
