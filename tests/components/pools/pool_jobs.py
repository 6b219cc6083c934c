"""What tests of the pools ask of a cluster: jobs and pods as the documents show them, and what became of them."""

import copy
import json
import re
from pathlib import Path

import yaml

from rackwright.errors import Refusal

ROOT = Path(__file__).resolve().parents[3]
TOOLS, BOXED, JOBS = "agents", "boxed-tools", "training"  # the first and last are those of the documents
WAITING = 6


def template(page: str) -> dict:
    """The job that a page shows."""
    text = (ROOT / "docs" / page).read_text()
    (found,) = re.findall(r"```yaml\n(apiVersion: batch/v1\n.*?)```", text, re.DOTALL)
    return yaml.safe_load(found)


def pod_of(page: str) -> dict:
    return {"metadata": {"generateName": "one-"}, "spec": template(page)["spec"]["template"]["spec"]}


def tool(**spec) -> dict:
    pod = pod_of("agents.md")
    return pod | {"spec": {key: value for key, value in (pod["spec"] | spec).items() if value is not None}}


def container(**fields) -> dict:
    (first,) = pod_of("agents.md")["spec"]["containers"]
    return first | fields


def with_rights(**rights) -> dict:
    return container(securityContext=container()["securityContext"] | rights)


def said(control_plane, space, pod) -> str:
    """What the API server says of a pod; nothing where it takes it."""
    whole = {"apiVersion": "v1", "kind": "Pod", **pod}
    try:
        control_plane.kubectl("create", "--namespace", space, "--dry-run=server", "-f", "-", given=json.dumps(whole))
    except Refusal as refusal:
        return refusal.what
    return ""


def job(page, name, *, of_pod=None, **spec):
    made = copy.deepcopy(template(page))
    made["metadata"] = {"name": name, "namespace": made["metadata"]["namespace"]}
    made["spec"] |= spec
    made["spec"]["template"]["spec"] |= of_pod or {}
    made["spec"] = {key: value for key, value in made["spec"].items() if value is not None}
    return made


def create(pools, manifest):
    pools.kubectl("create", "--filename=-", given=json.dumps(manifest))


def pods(pools, space, name):
    return pools.kubectl.get("pods", namespace=space, labels=f"batch.kubernetes.io/job-name={name}")


def places(pools, space, name):
    return [each["spec"].get("nodeName", "") for each in pods(pools, space, name)]


def alone(pools, space, name, pod):
    """A pod of no job's: what plays the kubelet ends those at once."""
    metadata = {"name": name, "namespace": space, "labels": {"batch.kubernetes.io/job-name": name}}
    create(pools, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod["spec"]})


def end(pools, space, *names):
    pools.kubectl("delete", "pods", *names, "-n", space, "--ignore-not-found", "--force", "--grace-period=0")


def waits_for_room(pools, space, name):
    for pod in pods(pools, space, name):
        for each in pod["status"].get("conditions", []):
            if each["type"] == "PodScheduled" and each.get("reason") == "Unschedulable":
                return not pod["spec"].get("nodeName")
    return False
