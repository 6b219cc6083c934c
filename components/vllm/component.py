"""The component: every model that a phase serves."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pulumi

from components.base import PART_OF, Component, Manifest
from components.base.network import from_peers, names, pods_in, policy, scrapes, to_object_storage, to_outside
from components.base.objects import KubernetesObject
from components.vllm.arguments import PORT
from components.vllm.halves import halved, pool_labels, ways_between
from components.vllm.lent import lent, ways_of
from components.vllm.members import answering, group_budget, leader_worker_set, ways_among
from components.vllm.pod import claim, deployment, export, from_origin, monitor, service, spare_gpus
from components.vllm.spread import budget, priority_class, stateful_set
from components.vllm.weights import OBJECT_STORAGE, Container, containers, hub_secret, origins
from rackwright.site.catalog import Image
from rackwright.site.gpu import Gpu
from rackwright.site.gpu_resources import requested
from rackwright.site.halves import Group
from rackwright.site.hosts import Host
from rackwright.site.models import Model
from rackwright.site.object_storage import ObjectStorage
from rackwright.site.serving import Serving
from rackwright.site.sources import S3, Hub, Nfs
from rackwright.site.storage_classes import storage_class

ACCOUNT = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "vllm", "labels": PART_OF}}


def upstream(model: Model, namespace: str) -> str:
    """Where a model answers, for a proxy: every ready pod's address is behind this name."""
    return f"{model.name}.{namespace}.svc.cluster.local:{PORT}"


def hub_tokens(models: Iterable[Model]) -> tuple[str, ...]:
    """Names of the hub's tokens in the vault that these models need, each once."""
    sources = (model.source for model in models)
    return tuple(dict.fromkeys(source.token for source in sources if isinstance(source, Hub) and source.token))


def ways_to_weights(models: Iterable[Model], store: ObjectStorage | None, inside: Sequence[str]) -> list[Manifest]:
    """Where pods may go for weights: each kind of source its own way, so that a pod has no more than it needs."""
    ways = []
    if any("hub" in origins(model) for model in models):
        ways.append(policy("hub", egress=[to_outside(inside, 443)], pods=from_origin("hub")))
    if store and any("s3" in origins(model) for model in models):
        ways.append(policy(OBJECT_STORAGE, egress=[to_object_storage(store)], pods=from_origin("s3")))
    return ways


class Vllm(Component):
    """Each model's engines, their volumes, their name and their metrics, in one namespace that only callers reach.

    Where they are spread, replicas stand on several of the hosts and a router chooses among them.
    """

    def __init__(
        self,
        name: str,
        models: Sequence[tuple[Model, Serving]],
        *,
        image: Image,
        rclone: Image,
        gpu: Gpu,
        hosts: Sequence[Host],
        secrets: Mapping[str, pulumi.Input[str]],
        object_storage: ObjectStorage | None,
        inside: Sequence[str],
        callers: Sequence[str],
        scrape_interval_s: int,
        volumes: pulumi.Resource,
        monitors: pulumi.Resource,
        spread: bool = False,
        counted: bool = False,
        made_elsewhere: Mapping[str, dict[str, str]] = MappingProxyType({}),
        groups: Mapping[str, Group] = MappingProxyType({}),
        door: Image | None = None,
        rdma: Mapping[str, str] = MappingProxyType({}),
        grouped_by: pulumi.Resource | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`made_elsewhere` are labels of pods that another component makes, by their model, of what is in `lent`.

        `groups` says by model what its replicas are. Before halves that answer stands a `door`; those that take several
        hosts are `grouped_by` a controller. `rdma` says by model over which network its replicas, or their parts, reach
        each other.
        """
        super().__init__(name, opts, after=[volumes])
        served = [model for model, _ in models]
        calls = from_peers([pods_in(caller) for caller in callers], PORT)
        self.add(policy(name, ingress=[calls, scrapes(PORT)], egress=[names()]))
        ours = [model for model in served if model.name not in made_elsewhere]
        theirs = [(model, made_elsewhere[model.name]) for model in served if model.name in made_elsewhere]
        ways = [way for model, pods in theirs for way in ways_of(model, object_storage, inside, pods=pods)]
        for way in (*ways_to_weights(ours, object_storage, inside), *ways):
            self.add(way)
        given = [*self._give(served, secrets), self.add(ACCOUNT)]
        images = {"engine": image, "rclone": rclone}
        before = {model.name: containers(model, **images, object_storage=object_storage) for model in served}
        self._groups = groups
        self._door, self._rdma, self._grouped_by = door, rdma, grouped_by
        asked = [model for model in served if model.name not in groups or groups[model.name].half != "prefill"]
        for way in (way for model in asked for way in ways_between(model)):
            self.add(way)
        self.lent: dict[str, Manifest] = {}
        self.lent_after: list[pulumi.Resource] = []
        if spread:
            self._spread(models, hosts, gpu, image, before, given, made_elsewhere, counted=counted)
        else:
            self._together(models, hosts, gpu, image, before, given)
        spanning = [model for model in served if self._hosts(model) > 1]
        for model in spanning:
            self.add(ways_among(model))
        leaders = {model.name: answering(model) for model in spanning}
        for model in served:
            pods = made_elsewhere.get(model.name) or leaders.get(model.name)
            self.add(service(model, pods), wait=False)
            self.add(monitor(model, scrape_interval_s, pods), after=[monitors])
        self.upstreams = {model.name: upstream(model, name) for model in asked}
        self.engines = {model.name: leaders.get(model.name) or pool_labels(model) for model in asked}
        self.register_outputs({"upstreams": self.upstreams})

    # Nothing below waits until it is ready: weights may take an hour to come, nothing is registered that needs them,
    # and whether they came is checked afterwards.

    def _together(
        self,
        models: Sequence[tuple[Model, Serving]],
        hosts: Sequence[Host],
        gpu: Gpu,
        image: Image,
        before: Mapping[str, list[Container]],
        given: Sequence[pulumi.Resource],
    ) -> None:
        spare = spare_gpus(models, hosts, gpu)
        for model, serving in models:
            room = spare[requested(model, gpu)]
            pods = deployment(model, serving, image=image, before=before[model.name], gpu=gpu, spare=room)
            claimed = self.add(claim(model, storage_class("models")), wait=False)
            self.add(pods, after=[*given, *self._export(model), claimed], wait=False)

    def _spread(
        self,
        models: Sequence[tuple[Model, Serving]],
        hosts: Sequence[Host],
        gpu: Gpu,
        image: Image,
        before: Mapping[str, list[Container]],
        given: Sequence[pulumi.Resource],
        made_elsewhere: Mapping[str, dict[str, str]],
        *,
        counted: bool,
    ) -> None:
        sizes = {model.name: model.gpus // self._hosts(model) for model, _ in models}
        larger = [self.add(priority_class(gpus)) for gpus in sorted(set(sizes.values()))]
        for model, serving in sorted(models, key=lambda each: -sizes[each[0].name]):
            with_it: dict[str, Any] = {"image": image, "before": before[model.name], "gpu": gpu, "counted": counted}
            theirs = made_elsewhere.get(model.name)
            if self._hosts(model) > 1:
                larger = [self._grouped(self._groups[model.name], with_it, [*given, *self._export(model), *larger])]
                continue
            if theirs:
                self.lent[model.name] = lent(model, serving, pods=theirs, **with_it)
                given = [*given, *self._export(model)]
            else:
                pods = self._halved(model, stateful_set(model, serving, **with_it))
                # The smaller's pods are made when all of these are there, which the scheduler then takes first.
                made = f"jsonpath={{.status.replicas}}={serving.replicas}"
                larger = [self.add(pods, after=[*given, *self._export(model), *larger], wait=made)]
            if limits := budget(model, serving, hosts, gpu, theirs):
                self.add(limits)
        self.lent_after = [*given, *larger]

    def _halved(self, model: Model, pods: Manifest) -> Manifest:
        group = self._groups.get(model.name)
        if group is None or group.half is None or self._door is None:
            return pods
        return halved(pods, group, door=self._door, network=self._rdma[group.served])

    def _grouped(self, group: Group, with_it: dict[str, Any], after: Sequence[pulumi.Resource]) -> KubernetesObject:
        """The set counts those of its pods that lead alone; the budget counts all of them as they are made."""
        makers = [self._grouped_by] if self._grouped_by else []
        rdma = self._rdma.get(group.model.name)
        made = self.add(leader_worker_set(group, rdma=rdma, **with_it), after=[*after, *makers], wait=False)
        pods = group.serving.replicas * group.hosts
        return self.add(group_budget(group), after=[made], wait=f"jsonpath={{.status.expectedPods}}={pods}")

    def _hosts(self, model: Model) -> int:
        group = self._groups.get(model.name)
        return group.hosts if group else 1

    def _export(self, model: Model) -> list[pulumi.Resource]:
        source = model.source
        return [self.add(each, wait=False) for each in export(model, source)] if isinstance(source, Nfs) else []

    def _give(self, models: Sequence[Model], secrets: Mapping[str, pulumi.Input[str]]) -> list[pulumi.Resource]:
        tokens = hub_tokens(models)
        given: list[pulumi.Resource] = [self.add(_secret(hub_secret(each), token=secrets[each])) for each in tokens]
        if any(isinstance(model.source, S3) for model in models):
            keys = {"access-key": secrets["s3_access_key"], "secret-key": secrets["s3_secret_key"]}
            given.append(self.add(_secret(OBJECT_STORAGE, **keys)))
        return given


def _secret(name: str, **values: pulumi.Input[str]) -> Manifest:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": values}
