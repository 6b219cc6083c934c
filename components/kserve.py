"""KServe: models whose pods its controller makes, of what ours are made of; our gateway stays the one door.

Each field was read in KServe 0.20 (pkg/controller/v1alpha2/llmisvc). A service without a route of its own gets neither
Gateway nor HTTPRoute, and their definitions need not be there; nor need those of LeaderWorkerSets, as no replica spans
hosts. Its weights are brought by our own containers: KServe's would load them in 1 GiB of memory.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pulumi

from components.base import PART_OF, Chart, Component, Manifest
from components.base.network import Rule, from_anyone, from_peers, names, pods_in, policy, scrapes, to_peers
from rackwright.site.kserve_names import engine_labels, every_engine, every_picker, picker_service
from rackwright.site.models import Model
from rackwright.site.serving import Serving
from rackwright.site.sources import S3, Hub, Nfs

API = "serving.kserve.io/v1alpha2"
DEFINITIONS, CONTROLLER = "kserve-llmisvc-crd", "kserve-llmisvc-resources"
WEBHOOK_PORT = 9443
# What it merges every service with, by these names: first those beside the service, then those of its own namespace.
# Upstream's hold whole pods, with images of other versions and ten minutes to start in.
PRESETS: dict[str, Manifest] = {
    "kserve-config-llm-template": {"storageInitializer": {"enabled": False}},
    # One, as it would have it: of several one leads, and the others are not ready.
    "kserve-config-llm-scheduler": {"router": {"scheduler": {"replicas": 1}}},
}


def values() -> dict[str, Any]:
    """What the controller's chart is told."""
    controller = {
        "imagePullPolicy": "IfNotPresent",
        # For each service it makes a key of 4,096 bits, which takes minutes in a tenth of a processor.
        "resources": {
            "requests": {"cpu": "100m", "memory": "300Mi"},
            "limits": {"cpu": "1", "memory": "1Gi"},
        },
    }
    # Pools and objectives are the router's: with the owner of a definition all that is of its kind would go.
    return {"kserve": {"llmisvc": {"createGIECRDs": False, "controller": controller}}}


def presets() -> list[Manifest]:
    """What services are merged with, beside them: near to nothing, so that a service is all that there is to read."""
    return [_object("LLMInferenceServiceConfig", name, spec) for name, spec in PRESETS.items()]


def service(model: Model, serving: Serving, *, engine: Manifest, picker: Manifest, told: Manifest) -> Manifest:
    """A model's service, from its engine's pod, its picker's pod and that one's configuration."""
    chosen_by = {
        "group": "",
        "kind": "Service",
        "name": picker_service(model.name),
        "port": {"number": port(picker, "grpc")},
        "failureMode": "FailOpen",
    }
    pool = {
        "selector": {"matchLabels": engine_labels(model.name)},
        "targetPorts": [{"number": port(engine, "http")}],
        "endpointPickerRef": chosen_by,
    }
    spec = {
        "model": {"name": model.name, "uri": origin(model)},
        "replicas": serving.replicas,
        "template": engine,
        "router": {"scheduler": {"template": picker, "config": {"inline": told}, "pool": {"spec": pool}}},
    }
    # No labels for its pods: KServe would put them into the selector as well, which can never be changed.
    return _object("LLMInferenceService", model.name, spec)


def origin(model: Model) -> str:
    """Where the weights come from, as KServe wants it said; it fetches nothing."""
    source = model.source
    if isinstance(source, Hub):
        return f"hf://{source.hub}:{source.revision}"
    if isinstance(source, S3):
        return f"s3://{source.s3}"
    return f"nfs://{source.nfs}" if isinstance(source, Nfs) else f"file://{source.local}"


def port(pod: Manifest, name: str) -> int:
    """The number of a port that a pod's first container declares."""
    return next(int(each["containerPort"]) for each in pod["containers"][0]["ports"] if each["name"] == name)


def monitor(scrape_interval_s: int) -> Manifest:
    """Where Prometheus finds the pickers' metrics: one for all of them."""
    endpoints = [{"port": "metrics", "path": "/metrics", "interval": f"{scrape_interval_s}s"}]
    spec = {"selector": {"matchLabels": every_picker()}, "podMetricsEndpoints": endpoints}
    metadata = {"name": "kserve-pickers"}
    return {"apiVersion": "monitoring.coreos.com/v1", "kind": "PodMonitor", "metadata": metadata, "spec": spec}


def ways(caller: str, engines: Iterable[Manifest], pickers: Iterable[Manifest], to_api: Rule) -> list[Manifest]:
    """Who comes to a picker and where it goes; engines let it in."""
    asked = sorted({port(each, "grpc") for each in pickers})
    shown = sorted({port(each, "metrics") for each in pickers})
    served = sorted({port(each, "http") for each in engines})
    come = [from_peers([pods_in(caller)], *asked), scrapes(*shown)]
    go = [names(), to_api, to_peers([{"podSelector": {"matchLabels": every_engine()}}], *served)]
    read = from_peers([{"podSelector": {"matchLabels": every_picker()}}], *served)
    return [
        policy("kserve-pickers", ingress=come, egress=go, pods=every_picker()),
        policy("kserve-engines", ingress=[read], pods=every_engine()),
    ]


class Kserve(Component):
    """KServe's controller, and a service for each model that the site gives it, beside our own engines."""

    def __init__(
        self,
        name: str,
        models: Sequence[tuple[Model, Serving]],
        *,
        charts: Mapping[str, Chart],
        engines: Mapping[str, Manifest],
        pickers: Mapping[str, tuple[Manifest, Manifest]],
        engines_in: str,
        beside: pulumi.Resource,
        after: Sequence[pulumi.Resource],
        kinds: Sequence[pulumi.Resource],
        caller: str,
        to_api: Rule,
        scrape_interval_s: int,
        issuers: pulumi.Resource,
        monitors: pulumi.Resource,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`engines` are pods by model, `pickers` a pod and its configuration.

        All of it goes into the namespace `beside`, whose name is `engines_in`; `after` is what services wait for, and
        `kinds` are the definitions of pools and objectives, which the controller looks for when it starts.
        """
        super().__init__(name, opts)
        self.add(policy(name, ingress=[from_anyone(WEBHOOK_PORT)], egress=[names(), to_api]))
        definitions = self.release(charts[DEFINITIONS], {})
        # Until its webhook is at work, the API server refuses every service and preset.
        installed = self.release(charts[CONTROLLER], values(), after=[definitions, issuers, *kinds])
        for each in ways(caller, engines.values(), [pod for pod, _ in pickers.values()], to_api):
            self.add(_in(engines_in, each), after=[beside])
        self.add(_in(engines_in, monitor(scrape_interval_s)), after=[beside, monitors])
        made: list[pulumi.Resource] = [self.add(_in(engines_in, each), after=[beside, installed]) for each in presets()]
        for model, serving in sorted(models, key=lambda each: -each[0].gpus):
            pod, told = pickers[model.name]
            served = service(model, serving, engine=engines[model.name], picker=pod, told=told)
            # Merged and laid out by then; weights may take an hour, and `rackwright check` looks whether they came.
            made = [*made, self.add(_in(engines_in, served), after=[*after, *made], wait="condition=PresetsCombined")]
        self.pickers = {
            model.name: [
                f"{picker_service(model.name)}.{engines_in}.svc.cluster.local:{port(pickers[model.name][0], 'grpc')}"
            ]
            for model, _ in models
        }
        self.register_outputs({"pickers": self.pickers})


def _object(kind: str, name: str, spec: Manifest) -> Manifest:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name, "labels": PART_OF}, "spec": spec}


def _in(namespace: str, manifest: Manifest) -> Manifest:
    return manifest | {"metadata": manifest["metadata"] | {"namespace": namespace}}
