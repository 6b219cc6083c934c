"""`pulumi up` of a phase against `kubectl apply --server-side` of the same objects, and against a second one.

Run: .venv/bin/python benchmarks/pulumi_up.py [inventory/example [PHASE]]
Bounds: at most 3 times kubectl's time with the wait for every workload, after 3 s for the engine's start; with nothing
to do, at most 0.3 of the first. Prints one line of JSON; exit 1 where a bound is missed.
"""

import base64
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from rackwright.sandbox import kwok, tools
from rackwright.sandbox.control_plane import ControlPlane
from rackwright.sandbox.nodes import nodes, storage_capacities
from rackwright.sandbox.stack import Stack
from rackwright.secrets import open_vault, throw_away
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Phase
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[1]
ENGINE_START_S = 3.0
AGAINST_KUBECTL, AGAINST_FIRST = 3.0, 0.3
AGAIN = 3  # the fastest counts: others slow a run, nothing speeds it up
SECRET, PLAIN = "4dabf18193072939515e22adb298388d", "plaintext"  # how Pulumi's record marks a value, and shows it
SERVERS_OWN = ("creationTimestamp", "generation", "managedFields", "resourceVersion", "uid", "selfLink")
FIRST = ("Namespace", "PriorityClass")  # what others are refused without
PHASES: dict[str, Phase] = {"1": 1, "2": 2}
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
    """Kinds that charts brought, without what the server added."""
    found = cluster.kubectl.get("customresourcedefinitions")
    return [
        {"apiVersion": each["apiVersion"], "kind": each["kind"], "spec": each["spec"]}
        | {"metadata": {key: value for key, value in each["metadata"].items() if key not in SERVERS_OWN}}
        for each in found
        if not each["spec"]["group"].startswith("kwok")
    ]


def objects(cluster: ControlPlane, record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Everything else that Pulumi made: its own objects by its record, and what it let Helm make."""
    for each in record["deployment"]["resources"]:
        found = shown(each.get("inputs"))
        if each["type"].startswith("kubernetes:") and isinstance(found, dict) and "apiVersion" in found:
            yield found
    for release in cluster.kubectl.get("secrets", labels="owner=helm"):
        packed = base64.b64decode(base64.b64decode(release["data"]["release"]))
        for document in yaml.safe_load_all(json.loads(gzip.decompress(packed))["manifest"]):
            if document:
                yield document | {"metadata": {"namespace": release["metadata"]["namespace"]} | document["metadata"]}


def shown(found: Any) -> Any:
    """A value of the record as it was written."""
    if isinstance(found, dict):
        return json.loads(found[PLAIN]) if SECRET in found else {key: shown(value) for key, value in found.items()}
    return [shown(each) for each in found] if isinstance(found, list) else found


def record_of(stack: Stack, toolbox: tools.Toolbox) -> dict[str, Any]:
    """What Pulumi keeps of the stack; its secrets are throw-away ones."""
    command = [toolbox["pulumi"].path, "stack", "export", "--show-secrets", "--stack", stack.name]
    done = subprocess.run(command, cwd=ROOT, env=stack.environment, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def applied(cluster: ControlPlane, kinds: list[dict[str, Any]], items: list[dict[str, Any]]) -> None:
    """The same objects by kubectl: kinds, what others need, the rest; then the same wait."""
    cluster.apply(kinds)
    cluster.kubectl.wait_for(*(f"crd/{kind['metadata']['name']}" for kind in kinds), condition="Established")
    cluster.apply(each for each in items if each["kind"] in FIRST)
    cluster.apply(each for each in items if each["kind"] not in FIRST)
    wait_for_workloads(cluster)


def plane(toolbox: tools.Toolbox, site: Site, phase: Phase) -> ControlPlane:
    """A control plane with the phase's networks."""
    found = site.cluster(phase)
    assert found is not None, f"{site.name} has no phase {phase}"
    return ControlPlane(
        toolbox,
        networks=kwok.Networks(found.pods, found.services),
        load_balancer_address=str(site.door(phase)),
        progress=say,
    )


def furnish(cluster: ControlPlane, site: Site, phase: Phase) -> None:
    """Its nodes and their room."""
    cluster.apply(nodes(site, phase, Catalog.load()))
    cluster.apply(storage_capacities(site, phase))


def main(place: str, phase: Phase) -> int:
    """Both ways on fresh control planes, one after the other."""
    site = Site.load(ROOT / place)
    toolbox = tools.ensure(tools.REHEARSAL, say)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        vault = throw_away(site, folder / "vault")
        os.environ["ANSIBLE_VAULT_PASSWORD_FILE"] = str(vault.password_file)
        passphrase = open_vault(folder / "vault")["pulumi_passphrase"]
        with plane(toolbox, site, phase) as cluster:
            furnish(cluster, site, phase)
            settings = {
                "site": str(ROOT / place),
                "secrets": str(folder / "vault"),
                "kubeconfig": str(cluster.kubeconfig),
                "charts": str(ROOT / "rackwright" / "sandbox" / "charts"),
            }
            private = {"toolbox": toolbox, "vault": vault, "passphrase": passphrase}
            stack = Stack(f"phase{phase}", folder / "pulumi", folder, settings=settings, **private)
            stack.prepare()
            first = timed(lambda: laid(cluster, stack))
            second = min(timed(lambda: stack.up(lambda _: None, lambda _: None)) for _ in range(AGAIN))
            record = record_of(stack, toolbox)
            kinds, items = definitions(cluster), list(objects(cluster, record))
        with plane(toolbox, site, phase) as cluster:
            furnish(cluster, site, phase)
            kubectl = timed(lambda: applied(cluster, kinds, items))
    result = {
        "site": site.name,
        "phase": phase,
        "resources": len(record["deployment"]["resources"]),
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
    place, phase = (*sys.argv[1:], *("inventory/example", "1")[len(sys.argv) - 1 :])
    if phase not in PHASES:
        sys.exit(f"There is no phase {phase}: say 1 or 2.")
    sys.exit(main(place, PHASES[phase]))
