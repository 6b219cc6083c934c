"""`pulumi up` of phase 1 against `kubectl apply --server-side` of the same objects, and against a second one.

Run: .venv/bin/python benchmarks/pulumi_up.py [inventory/example]
Bounds: at most 3 times kubectl's time with the wait for every workload, after 3 s for the engine's start; with nothing
to do, at most 0.3 of the first. Prints one line of JSON; exit 1 where a bound is missed.
"""

import base64
import gzip
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from rackwright.sandbox import stages, tools
from rackwright.sandbox.control_plane import ControlPlane
from rackwright.sandbox.nodes import nodes, storage_capacities
from rackwright.sandbox.stack import Stack
from rackwright.secrets import open_vault, throw_away
from rackwright.site.catalog import Catalog
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[1]
ENGINE_START_S = 3.0
AGAINST_KUBECTL, AGAINST_FIRST = 3.0, 0.3
AGAIN = 3  # the fastest counts: others slow a run, nothing speeds it up
OURS = (
    "configmaps,secrets,serviceaccounts,services,persistentvolumeclaims,deployments,networkpolicies,"
    "poddisruptionbudgets,podmonitors,clusters.postgresql.cnpg.io,databases.postgresql.cnpg.io,certificates,clusterissuers"
)
SERVERS_OWN = ("creationTimestamp", "generation", "managedFields", "resourceVersion", "uid", "selfLink")
WORKLOADS = ("deployments", "statefulsets", "daemonsets")


def say(line: str) -> None:
    """What is happening, beside the result."""
    print(line, file=sys.stderr, flush=True)


def timed(work: Callable[[], Any]) -> float:
    """Seconds that it takes."""
    began = time.monotonic()
    work()
    return time.monotonic() - began


def wait_for_workloads(cluster: ControlPlane) -> None:
    """Until every Deployment, StatefulSet and DaemonSet has its pods ready."""
    for kind in WORKLOADS:
        for each in cluster.kubectl.get(kind):
            name, space = each["metadata"]["name"], each["metadata"]["namespace"]
            cluster.kubectl("rollout", "status", f"{kind}/{name}", f"--namespace={space}", "--timeout=120s")


def laid(cluster: ControlPlane, stack: Stack) -> None:
    """Pulumi's work, and the wait for what it does not wait for itself."""
    stack.up(lambda _: None, lambda _: None)
    wait_for_workloads(cluster)


def definitions(cluster: ControlPlane) -> list[dict[str, Any]]:
    """Kinds that charts brought."""
    found = cluster.kubectl.get("customresourcedefinitions")
    return [plain(each) for each in found if not each["spec"]["group"].startswith("kwok")]


def objects(cluster: ControlPlane) -> Iterator[dict[str, Any]]:
    """Everything else that Pulumi made: its own objects as they are, and what it let Helm make."""
    asked = ("get", f"namespaces,{OURS}", "--all-namespaces", "--show-managed-fields", "--output=json")
    for each in json.loads(cluster.kubectl(*asked))["items"]:
        if any(field["manager"].startswith("pulumi") for field in each["metadata"].get("managedFields", [])):
            yield plain(each)
    for release in cluster.kubectl.get("secrets", labels="owner=helm"):
        packed = base64.b64decode(base64.b64decode(release["data"]["release"]))
        for document in yaml.safe_load_all(json.loads(gzip.decompress(packed))["manifest"]):
            if document:
                yield document | {"metadata": {"namespace": release["metadata"]["namespace"]} | document["metadata"]}


def plain(found: dict[str, Any]) -> dict[str, Any]:
    """As somebody would write it: without what the server added."""
    metadata = {key: value for key, value in found["metadata"].items() if key not in SERVERS_OWN}
    kept = {key: value for key, value in found.items() if key not in {"status", "metadata"}} | {"metadata": metadata}
    if found["kind"] == "Service":
        for key in ("clusterIP", "clusterIPs"):
            if kept["spec"].get(key) not in ("None", ["None"]):
                kept["spec"].pop(key, None)
    if found["kind"] == "PersistentVolumeClaim":
        kept["spec"].pop("volumeName", None)
        metadata.pop("annotations", None)  # the binder's
    return kept


def applied(cluster: ControlPlane, kinds: list[dict[str, Any]], items: list[dict[str, Any]]) -> None:
    """The same objects by kubectl: kinds, namespaces, the rest; then the same wait."""
    cluster.apply(kinds)
    cluster.kubectl.wait_for(*(f"crd/{kind['metadata']['name']}" for kind in kinds), condition="Established")
    cluster.apply(each for each in items if each["kind"] == "Namespace")
    cluster.apply(each for each in items if each["kind"] != "Namespace")
    wait_for_workloads(cluster)


def plane(toolbox: tools.Toolbox, site: Site) -> ControlPlane:
    """A control plane for the site's nodes."""
    address = str(site.door(1))
    return ControlPlane(toolbox, storage_classes=stages.STORAGE_CLASSES, load_balancer_address=address, progress=say)


def furnish(cluster: ControlPlane, site: Site) -> None:
    """Its nodes and their room."""
    cluster.apply(nodes(site, 1, Catalog.load()))
    cluster.apply(storage_capacities(site, 1))


def main(place: str) -> int:
    """Both ways on fresh control planes, one after the other."""
    site = Site.load(ROOT / place)
    toolbox = tools.ensure(tools.REHEARSAL, say)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        vault = throw_away(site, folder / "vault")
        os.environ["ANSIBLE_VAULT_PASSWORD_FILE"] = str(vault.password_file)
        passphrase = open_vault(folder / "vault")["pulumi_passphrase"]
        with plane(toolbox, site) as cluster:
            furnish(cluster, site)
            settings = {
                "site": str(ROOT / place),
                "secrets": str(folder / "vault"),
                "kubeconfig": str(cluster.kubeconfig),
                "charts": str(ROOT / "rackwright" / "sandbox" / "charts"),
            }
            private = {"toolbox": toolbox, "vault": vault, "passphrase": passphrase}
            stack = Stack("phase1", folder / "pulumi", folder, settings=settings, **private)
            stack.prepare()
            first = timed(lambda: laid(cluster, stack))
            second = min(timed(lambda: stack.up(lambda _: None, lambda _: None)) for _ in range(AGAIN))
            kinds, items = definitions(cluster), list(objects(cluster))
        with plane(toolbox, site) as cluster:
            furnish(cluster, site)
            kubectl = timed(lambda: applied(cluster, kinds, items))
    result = {
        "site": site.name,
        "objects": len(items) + len(kinds),
        "kubectl_s": round(kubectl, 1),
        "first_up_s": round(first, 1),
        "second_up_s": round(second, 1),
        "first_against_kubectl": round((first - ENGINE_START_S) / kubectl, 2),
        "second_against_first": round(second / first, 2),
    }
    print(json.dumps(result))
    within = result["first_against_kubectl"] <= AGAINST_KUBECTL and result["second_against_first"] <= AGAINST_FIRST
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "inventory/example"))
