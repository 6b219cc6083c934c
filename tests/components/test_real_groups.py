"""LeaderWorkerSet's own controller on a real API server, given what the component gives it; where its program is had.

`RACKWRIGHT_LWS` names it: `go build ./cmd` in the pinned release's sources. Its webhooks are asked as well. Kubelets
are played: pods turn Ready without any engine.
"""

import json
import os
import subprocess
import warnings
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from definitions import Plain
from waiting import until

from components.base.component import namespace
from components.vllm.members import answering, group_budget, leader_worker_set
from components.vllm.pod import labels
from components.vllm.spread import priority_class
from components.vllm.weights import containers
from rackwright.errors import Refusal
from rackwright.sandbox import kwok, nodes, ports
from rackwright.sandbox.control_plane import ControlPlane
from rackwright.site.lws_names import INDEX, SET
from rackwright.site.site import Site
from rackwright.site.spans import spanning

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("RACKWRIGHT_LWS", "")
SITE = Site.load(ROOT / "tests" / "fixtures" / "valid" / "spanning.yml")
(GROUP,) = spanning(SITE)
NAME = GROUP.model.name
LEADS, FOLLOWS = f"{NAME}-0", f"{NAME}-0-1"
SPACE = "models"
PODS = ",".join(f"{key}={value}" for key, value in labels(GROUP.model).items())
CLASS = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "nvme-models"},
    "provisioner": "topolvm.io",
    "volumeBindingMode": "WaitForFirstConsumer",
}


@pytest.fixture(scope="module", autouse=True)
def found() -> None:
    """The program is there; else everything here is left out, and says so."""
    if not Path(PROGRAM).is_file():
        missing = "RACKWRIGHT_LWS names no program of LeaderWorkerSet's, so its controller was not asked"
        warnings.warn(missing, stacklevel=1)
        pytest.skip(missing)


@pytest.fixture(scope="module")
def cluster(toolbox, say, upstream, catalog) -> Iterator[ControlPlane]:
    """The site's machines, and upstream's kinds; without whoever plays the controller."""
    kinds = [yaml.load(file.read_text(), Plain) for file in sorted((upstream / "crds" / "lws").glob("*.yaml"))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kwok, "ADMISSION_OFF", "AlwaysDeny")  # off in any case: here somebody answers webhooks
        with ControlPlane(toolbox, progress=say) as there:
            furnish(there, kinds, catalog)
            yield there


def furnish(there, kinds, catalog) -> None:
    for stage in ("group-leaders-are-made", "group-followers-are-made"):
        there.kubectl.delete("stage", stage)
    there.apply(kinds)
    there.kubectl.wait_for(*(f"crd/{each['metadata']['name']}" for each in kinds), condition="Established")
    there.apply([*nodes.nodes(SITE, 2, catalog), *nodes.storage_capacities(SITE, 2), CLASS])
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "vllm", "namespace": SPACE}}
    there.apply([namespace(SPACE, "restricted"), account, priority_class(GROUP.part.gpus)])


@pytest.fixture(scope="module")
def certificate(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("certificate")
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2"]
    files = ["-keyout", str(folder / "tls.key"), "-out", str(folder / "tls.crt")]
    names = ["-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*words, *names, *files], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def controller(cluster, certificate, tmp_path_factory) -> Iterator[Path]:
    """It runs, and the API server asks its webhooks; its log."""
    folder = tmp_path_factory.mktemp("lws")
    webhook, health = ports.free(2)
    told = {
        "apiVersion": "config.lws.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "webhook": {"host": "127.0.0.1", "port": webhook, "certDir": str(certificate)},
        "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
        "metrics": {"bindAddress": "0"},
    }
    (folder / "configuration.yaml").write_text(json.dumps(told))
    log = folder / "log"
    environment = {**os.environ, "KUBECONFIG": str(cluster.kubeconfig)}
    command = [PROGRAM, f"--config={folder / 'configuration.yaml'}"]
    with (
        log.open("w") as output,
        subprocess.Popen(command, env=environment, stdout=output, stderr=output) as process,
    ):
        try:
            until(lambda: "Serving webhook server" in log.read_text(), "its webhooks do not answer")
            cluster.apply(webhooks(f"https://127.0.0.1:{webhook}", (certificate / "tls.crt").read_bytes()))
            until(lambda: refuses_a_pod_of_no_group(cluster), "the API server does not ask the webhooks", 30)
            yield log
            assert process.poll() is None, log.read_text()[-2000:]
        finally:
            process.terminate()


def refuses_a_pod_of_no_group(cluster) -> bool:
    """Whether the webhook that completes pods is asked: of one without a group it says so."""
    metadata = {"name": "alone", "namespace": SPACE, "labels": {SET: "none"}}
    alone = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [{"name": "c", "image": "x"}]},
    }
    try:
        cluster.kubectl("create", "--dry-run=server", "-f", "-", given=json.dumps(alone))
    except Refusal as refusal:
        return "size annotation" in str(refusal)
    return False


def webhooks(where: str, authority: bytes) -> Iterator[dict]:
    """As its chart registers them, at this address."""
    of_sets = {"apiGroups": ["leaderworkerset.x-k8s.io"], "apiVersions": ["v1"], "resources": ["leaderworkersets"]}
    of_pods = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}
    for kind, verb in (("Mutating", "mutate"), ("Validating", "validate")):
        both = (
            ("set", f"{verb}-leaderworkerset-x-k8s-io-v1-leaderworkerset", of_sets, {}),
            ("pod", f"{verb}--v1-pod", of_pods, {"matchExpressions": [{"key": SET, "operator": "Exists"}]}),
        )
        yield {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": f"{kind}WebhookConfiguration",
            "metadata": {"name": f"lws-{verb}"},
            "webhooks": [
                {
                    "name": f"{name}.lws.test",
                    "clientConfig": {"url": f"{where}/{path}", "caBundle": b64encode(authority).decode()},
                    "rules": [rule | {"operations": ["CREATE", *(["UPDATE"] if name == "set" else [])]}],
                    "objectSelector": selector,
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    "failurePolicy": "Fail",
                }
                for name, path, rule, selector in both
            ],
        }


@pytest.fixture(scope="module")
def given(catalog) -> dict:
    images = {"engine": catalog.images["vllm"], "rclone": catalog.images["rclone"]}
    before = containers(GROUP.model, **images, object_storage=SITE.object_storage)
    return leader_worker_set(GROUP, image=images["engine"], before=before, gpu=SITE.gpu, rdma="10.0.1.0/24")


def placed(manifest: dict) -> dict:
    return manifest | {"metadata": manifest["metadata"] | {"namespace": SPACE}}


@pytest.fixture(scope="module")
def laid(cluster, controller, given) -> dict[str, dict]:
    """The pods of its one group, once it is whole."""
    assert controller.exists()
    cluster.apply([placed(given), placed(group_budget(GROUP))])
    until(lambda: set(ready(cluster)) == {LEADS, FOLLOWS}, "the group did not form")
    return pods(cluster)


def pods(cluster) -> dict[str, dict]:
    return {each["metadata"]["name"]: each for each in cluster.kubectl.get("pods", namespace=SPACE, labels=PODS)}


def ready(cluster) -> dict[str, str]:
    """Names and identities of its pods that are ready and not on their way out."""
    return {
        name: each["metadata"]["uid"]
        for name, each in pods(cluster).items()
        if "deletionTimestamp" not in each["metadata"]
        and any(said["type"] == "Ready" and said["status"] == "True" for said in each["status"].get("conditions", []))
    }


def engine(pod) -> dict:
    return pod["spec"]["containers"][0]


def test_a_group_has_a_pod_on_each_of_so_many_hosts(laid):
    assert len({each["spec"]["nodeName"] for each in laid.values()}) == GROUP.hosts
    assert {engine(each)["resources"]["limits"]["nvidia.com/gpu"] for each in laid.values()} == {"8"}
    assert {each["spec"]["priorityClassName"] for each in laid.values()} == {"rackwright-replica-8"}


def test_each_is_told_whom_it_follows_in_variables_that_its_command_names(laid):
    for name, index in ((LEADS, "0"), (FOLLOWS, "1")):
        told = {each["name"]: each.get("value") for each in engine(laid[name])["env"]}
        assert told["LWS_LEADER_ADDRESS"] == f"{LEADS}.{LEADS}.{SPACE}"
        assert told["LWS_WORKER_INDEX"] == index
        assert told["LWS_GROUP_SIZE"] == str(GROUP.hosts)
        words = engine(laid[name])["command"]
        assert "--master-addr=$(LWS_LEADER_ADDRESS)" in words
        assert ("--headless" in words) == (name == FOLLOWS)


def test_the_name_of_the_one_that_leads_is_known_before_it_is_ready(cluster, laid):
    services = {each["metadata"]["name"]: each["spec"] for each in cluster.kubectl.get("services", namespace=SPACE)}
    assert services[LEADS]["publishNotReadyAddresses"]
    selected = services[LEADS]["selector"]
    assert all(selected.items() <= each["metadata"]["labels"].items() for each in laid.values())


def test_those_that_answer_are_selected_and_those_that_follow_are_not(laid):
    wanted = answering(GROUP.model).items()
    assert {name for name, each in laid.items() if wanted <= each["metadata"]["labels"].items()} == {LEADS}
    assert laid[FOLLOWS]["metadata"]["labels"][INDEX] == "1"


@pytest.mark.usefixtures("laid")
def test_its_budget_counts_all_of_them(cluster):
    def counted() -> int:
        (budget,) = cluster.kubectl.get("poddisruptionbudgets", namespace=SPACE)
        return budget.get("status", {}).get("expectedPods", 0)

    until(lambda: counted() == GROUP.hosts)


@pytest.mark.usefixtures("laid")
def test_what_waits_for_it_may_look_at_its_status(cluster):
    cluster.kubectl.wait_for(f"leaderworkerset/{NAME}", condition="jsonpath={.status.readyReplicas}=1", namespace=SPACE)


@pytest.mark.parametrize("name", [FOLLOWS, LEADS])
@pytest.mark.usefixtures("laid")
def test_when_one_goes_all_are_made_anew_and_come_back_to_their_hosts_and_volumes(cluster, name):
    before, hosts = ready(cluster), {each: pod["spec"]["nodeName"] for each, pod in pods(cluster).items()}
    claims = {each["metadata"]["uid"] for each in cluster.kubectl.get("persistentvolumeclaims", namespace=SPACE)}
    assert len(claims) == GROUP.hosts
    cluster.kubectl.delete("pod", name, namespace=SPACE)
    until(lambda: not set(before.values()) & set(ready(cluster).values()), "one of the group stayed")
    until(lambda: set(ready(cluster)) == {LEADS, FOLLOWS}, "the group did not form again")
    assert {each: pod["spec"]["nodeName"] for each, pod in pods(cluster).items()} == hosts
    assert {
        each["metadata"]["uid"] for each in cluster.kubectl.get("persistentvolumeclaims", namespace=SPACE)
    } == claims


@pytest.mark.usefixtures("laid")
def test_a_restarted_engine_takes_the_group_with_it(cluster):
    before = ready(cluster)
    said = {
        "status": {
            "containerStatuses": [{"name": "vllm", "restartCount": 1, "ready": True, "image": "x", "imageID": ""}]
        }
    }
    where = ("--namespace", SPACE, "--subresource=status", "--type=strategic")
    cluster.kubectl("patch", "pod", FOLLOWS, *where, "--patch", json.dumps(said))
    until(lambda: not set(before.values()) & set(ready(cluster).values()), "the group outlived one of its engines")
    until(lambda: set(ready(cluster)) == {LEADS, FOLLOWS}, "the group did not form again")


@pytest.mark.usefixtures("laid")
def test_a_change_replaces_the_group_in_place(cluster, given):
    before = ready(cluster)
    made = given["spec"]["leaderWorkerTemplate"]
    changed = {
        name: template | {"spec": template["spec"] | {"terminationGracePeriodSeconds": 1000}}
        for name, template in made.items()
        if name.endswith("Template")
    }
    cluster.apply([placed(given | {"spec": given["spec"] | {"leaderWorkerTemplate": made | changed}})])
    until(lambda: not set(before.values()) & set(ready(cluster).values()), "a pod of the old form stayed")
    until(lambda: set(ready(cluster)) == {LEADS, FOLLOWS}, "the group did not form again")
    assert {each["spec"]["terminationGracePeriodSeconds"] for each in pods(cluster).values()} == {1000}
