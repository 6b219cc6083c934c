"""What the pods of our namespaces name."""

from collections.abc import Iterator
from typing import Any

from rackwright.checks.objects import Object, Objects, spell
from rackwright.checks.references import Reference
from rackwright.checks.workloads import Workload, our_workloads

FROM_SOURCES = {"secretRef": "Secret", "configMapRef": "ConfigMap"}
KEY_SOURCES = {"secretKeyRef": "Secret", "configMapKeyRef": "ConfigMap"}


def pod_references(objects: Objects) -> Iterator[Reference]:
    """Accounts, classes, volumes and variables of every kind of pod."""
    for each in our_workloads(objects):
        yield from _of_pod(each)
        yield from _of_volumes(each)
        yield from _of_variables(each)
        yield from _of_claims(each)


def claim_references(objects: Objects) -> Iterator[Reference]:
    """The classes of claims, and the drivers of classes."""
    for claim in objects.ours("PersistentVolumeClaim"):
        yield from _storage_class(spell(claim), claim["spec"])
    for storage_class in objects.all("StorageClass"):
        if storage_class["provisioner"].endswith("topolvm.io"):
            yield Reference(spell(storage_class), "CSIDriver", storage_class["provisioner"])


def _of_pod(each: Workload) -> Iterator[Reference]:
    spec = each.spec
    yield Reference(each.where, "ServiceAccount", spec.get("serviceAccountName") or "default", each.namespace)
    for kind, key in (("PriorityClass", "priorityClassName"), ("RuntimeClass", "runtimeClassName")):
        if spec.get(key):
            yield Reference(each.where, kind, spec[key])
    for pull in spec.get("imagePullSecrets") or []:
        yield Reference(each.where, "Secret", pull["name"], each.namespace)
    if each.object["kind"] == "StatefulSet":
        yield Reference(each.where, "Service", each.object["spec"]["serviceName"], each.namespace)


def _of_volumes(each: Workload) -> Iterator[Reference]:
    for volume in each.spec.get("volumes") or []:
        where = f"{each.where}, volume {volume['name']}"
        for source in ({"secret": volume.get("secret"), "configMap": volume.get("configMap")}, *_projected(volume)):
            yield from _of_source(where, each.namespace, source)
        if claim := volume.get("persistentVolumeClaim"):
            yield Reference(where, "PersistentVolumeClaim", claim["claimName"], each.namespace)
        if ephemeral := volume.get("ephemeral"):
            yield from _storage_class(where, ephemeral["volumeClaimTemplate"]["spec"])
        if driver := (volume.get("csi") or {}).get("driver"):
            yield Reference(where, "CSIDriver", driver)


def _projected(volume: Object) -> list[Object]:
    sources: list[Object] = (volume.get("projected") or {}).get("sources") or []
    return sources


def _of_source(where: str, namespace: str, source: Object) -> Iterator[Reference]:
    """Secrets and ConfigMaps as files; those marked optional may be missing."""
    for key, kind in (("secret", "Secret"), ("configMap", "ConfigMap")):
        settings: Any = source.get(key)
        if not settings or settings.get("optional"):
            continue
        name = settings.get("secretName") or settings["name"]
        yield Reference(where, kind, name, namespace)
        for item in settings.get("items") or []:
            yield Reference(where, kind, name, namespace, item["key"])


def _of_variables(each: Workload) -> Iterator[Reference]:
    for container in each.containers:
        where = f"{each.where}, container {container['name']}"
        for variable in container.get("env") or []:
            for key, kind in KEY_SOURCES.items():
                if (source := (variable.get("valueFrom") or {}).get(key)) and not source.get("optional"):
                    yield Reference(where, kind, source["name"], each.namespace, source["key"])
        for variables in container.get("envFrom") or []:
            for key, kind in FROM_SOURCES.items():
                if (source := variables.get(key)) and not source.get("optional"):
                    yield Reference(where, kind, source["name"], each.namespace)


def _of_claims(each: Workload) -> Iterator[Reference]:
    for template in each.object["spec"].get("volumeClaimTemplates") or []:
        yield from _storage_class(f"{each.where}, claim {template['metadata']['name']}", template["spec"])


def _storage_class(where: str, spec: Object) -> Iterator[Reference]:
    if name := spec.get("storageClassName"):
        yield Reference(where, "StorageClass", name)
