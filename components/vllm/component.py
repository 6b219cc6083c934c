"""The component: every model that a phase serves."""

from collections.abc import Iterable, Mapping, Sequence

import pulumi

from components.base import PART_OF, Component, Manifest
from components.base.network import from_peers, names, pods_in, policy, scrapes, to_object_storage, to_outside
from components.vllm.arguments import PORT
from components.vllm.pod import claim, deployment, export, from_origin, monitor, service, spare_gpus
from components.vllm.weights import OBJECT_STORAGE, containers, hub_secret, origins
from rackwright.site.catalog import Image
from rackwright.site.gpu import Gpu
from rackwright.site.gpu_resources import requested
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
    """Each model's engine, its volume, its name and its metrics, in one namespace that only the gateway may call."""

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
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__(name, opts, after=[volumes])
        served = [model for model, _ in models]
        calls = from_peers([pods_in(caller) for caller in callers], PORT)
        self.add(policy(name, ingress=[calls, scrapes(PORT)], egress=[names()]))
        for way in ways_to_weights(served, object_storage, inside):
            self.add(way)
        given = [*self._give(served, secrets), self.add(ACCOUNT)]
        spare = spare_gpus(models, hosts, gpu)
        for model, serving in models:
            before = containers(model, engine=image, rclone=rclone, object_storage=object_storage)
            room = spare[requested(model, gpu)]
            pods = deployment(model, serving, image=image, before=before, gpu=gpu, spare=room)
            claimed = self.add(claim(model, storage_class("models")), wait=False)
            self._serve(model, pods, [*given, claimed])
            self.add(monitor(model, scrape_interval_s), after=[monitors])
        self.upstreams = {model.name: upstream(model, name) for model in served}
        self.register_outputs({"upstreams": self.upstreams})

    def _serve(self, model: Model, pods: Manifest, needed: list[pulumi.Resource]) -> None:
        # Nothing here waits: weights may take an hour to come, nothing is registered that needs them, and whether they
        # came is checked afterwards.
        if isinstance(model.source, Nfs):
            needed += [self.add(each, wait=False) for each in export(model, model.source)]
        self.add(pods, after=needed, wait=False)
        self.add(service(model), wait=False)

    def _give(self, models: Sequence[Model], secrets: Mapping[str, pulumi.Input[str]]) -> list[pulumi.Resource]:
        tokens = hub_tokens(models)
        given: list[pulumi.Resource] = [self.add(_secret(hub_secret(each), token=secrets[each])) for each in tokens]
        if any(isinstance(model.source, S3) for model in models):
            keys = {"access-key": secrets["s3_access_key"], "secret-key": secrets["s3_secret_key"]}
            given.append(self.add(_secret(OBJECT_STORAGE, **keys)))
        return given


def _secret(name: str, **values: pulumi.Input[str]) -> Manifest:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": values}
