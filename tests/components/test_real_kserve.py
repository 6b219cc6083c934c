"""KServe's own controller on a real API server, given what the component gives it; where its program is to be had.

`RACKWRIGHT_KSERVE` names it: `go build ./cmd/llmisvc` in the pinned release's sources. Its webhooks are not asked, and
neither Gateway API nor LeaderWorkerSet is there.
"""

import json
import os
import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from definitions import Plain
from test_manifests import lent_pods
from test_vllm import model
from waiting import until

from components import kserve
from components.base.component import namespace
from components.llm_d.definitions import definitions
from components.llm_d.picking import configuration
from rackwright.sandbox import ports
from rackwright.sandbox.control_plane import ControlPlane
from rackwright.site import kserve_names
from rackwright.site.serving import Serving

PROGRAM = os.environ.get("RACKWRIGHT_KSERVE", "")
SERVED = model(name="helper", context_length=8192)
SERVING = Serving(replicas=2, priority=True, through="kserve")
# As the chart writes it where nothing is said.
SETTINGS = {
    "ingress": {
        "enableGatewayApi": False,
        "kserveIngressGateway": "kserve/kserve-ingress-gateway",
        "ingressGateway": "knative-serving/knative-ingress-gateway",
        "ingressDomain": "example.com",
        "urlScheme": "http",
    },
    "storageInitializer": {"memoryRequest": "100Mi", "memoryLimit": "1Gi", "cpuRequest": "100m", "cpuLimit": "1"},
    "localModel": {"enabled": False},
    "credentials": {"storageSpecSecretName": "storage-config"},
}


@pytest.fixture(scope="module", autouse=True)
def found() -> None:
    """The program is there; else everything here is left out, and says so."""
    if not Path(PROGRAM).is_file():
        missing = "RACKWRIGHT_KSERVE names no program of KServe's, so its controller was not asked"
        warnings.warn(missing, stacklevel=1)
        pytest.skip(missing)


@pytest.fixture(scope="module")
def cluster(toolbox, say, upstream) -> Iterator[ControlPlane]:
    """With the kinds that phase 2 lays, and upstream's of KServe; without whoever plays its controller."""
    files = sorted((upstream / "crds" / "kserve").glob("*llminference*.yaml"))
    kinds = [*definitions(), *(yaml.load(file.read_text(), Plain) for file in files)]
    with ControlPlane(toolbox, progress=say) as there:
        there.kubectl.delete("stage", "inference-service-is-laid-out")
        there.apply(kinds)
        there.kubectl.wait_for(*(f"crd/{each['metadata']['name']}" for each in kinds), condition="Established")
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "vllm", "namespace": "models"}}
        data = {name: json.dumps(value) for name, value in SETTINGS.items()}
        told = {"apiVersion": "v1", "kind": "ConfigMap", "data": data}
        there.apply([namespace("kserve", "restricted"), namespace("models", "restricted"), account])
        there.apply([told | {"metadata": {"name": "inferenceservice-config", "namespace": "kserve"}}])
        yield there


@pytest.fixture(scope="module")
def controller(cluster, certificate, tmp_path_factory) -> Iterator[Path]:
    """It runs; its log."""
    log = tmp_path_factory.mktemp("kserve") / "log"
    webhook, health = ports.free(2)
    words = ["--metrics-addr=0", f"--health-probe-addr=127.0.0.1:{health}", f"--webhook-port={webhook}"]
    told = {**os.environ, "KUBECONFIG": str(cluster.kubeconfig), "POD_NAMESPACE": "kserve", "TMPDIR": str(certificate)}
    with (
        log.open("w") as output,
        subprocess.Popen([PROGRAM, *words], env=told, stdout=output, stderr=output) as process,
    ):
        try:
            yield log
            assert process.poll() is None, log.read_text()[-2000:]
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory) -> Path:
    """A folder for temporary files, with a certificate where its webhooks look for theirs."""
    folder = tmp_path_factory.mktemp("temporary")
    place = folder / "k8s-webhook-server" / "serving-certs"
    place.mkdir(parents=True)
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2"]
    files = ["-keyout", str(place / "tls.key"), "-out", str(place / "tls.crt")]
    subprocess.run([*words, *files], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def given(lab, catalog) -> dict:
    engine, picker = lent_pods(lab, catalog, SERVED, SERVING)
    told = configuration(SERVED, lab.routing)
    return kserve.service(SERVED, SERVING, engine=engine, picker=picker, told=told)


def placed(manifest: dict) -> dict:
    return manifest | {"metadata": manifest["metadata"] | {"namespace": "models"}}


@pytest.fixture(scope="module")
def laid(cluster, controller, given) -> dict:
    """The service as it is once it has been taken."""
    assert controller.exists()
    cluster.apply(placed(each) for each in [*kserve.presets(), given])
    cluster.kubectl.wait_for("llminferenceservice/helper", condition="PresetsCombined", namespace="models")
    (service,) = cluster.kubectl.get("llminferenceservices", namespace="models")
    return service


def one(cluster, kind: str, name: str) -> dict:
    found = {each["metadata"]["name"]: each for each in cluster.kubectl.get(kind, namespace="models")}
    return found[name]


def contained(ours, theirs) -> bool:
    """Whether what we said is there as we said it; the API server adds defaults."""
    if isinstance(ours, dict):
        return isinstance(theirs, dict) and all(
            key in theirs and contained(value, theirs[key]) for key, value in ours.items()
        )
    if isinstance(ours, list):
        return len(ours) == len(theirs) and all(contained(*pair) for pair in zip(ours, theirs, strict=True))
    return ours == theirs


@pytest.mark.usefixtures("laid")
def test_engines_are_what_they_were_to_be(cluster, given):
    made = one(cluster, "deployments", kserve_names.engines("helper"))
    assert made["spec"]["replicas"] == SERVING.replicas
    template = made["spec"]["template"]
    assert contained(given["spec"]["template"], template["spec"])
    assert [each["name"] for each in template["spec"]["initContainers"]] == ["download", "check"]
    assert [each["name"] for each in template["spec"]["containers"]] == ["main"]
    assert kserve_names.engine_labels("helper").items() <= template["metadata"]["labels"].items()
    # Whatever labels a service gave its pods would stand here too, and another one tomorrow would be refused for ever.
    assert made["spec"]["selector"]["matchLabels"] == template["metadata"]["labels"]


@pytest.mark.usefixtures("laid")
def test_its_rollouts_wait_for_room_as_validation_says(cluster):
    strategy = one(cluster, "deployments", kserve_names.engines("helper"))["spec"]["strategy"]
    assert strategy == {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}


@pytest.mark.usefixtures("laid")
def test_the_picker_is_what_it_was_to_be_and_is_told_its_configuration(cluster, given):
    made = one(cluster, "deployments", kserve_names.picker("helper"))
    assert made["spec"]["replicas"] == 1
    template = made["spec"]["template"]
    scheduler = given["spec"]["router"]["scheduler"]
    assert contained(scheduler["template"], template["spec"])
    (container,) = template["spec"]["containers"]
    flag, told = container["args"]
    assert flag == "--config-text"
    assert yaml.safe_load(told) == scheduler["config"]["inline"]
    assert kserve_names.picker_labels("helper").items() <= template["metadata"]["labels"].items()


@pytest.mark.usefixtures("laid")
def test_the_gateway_finds_the_picker_and_the_picker_its_pool(cluster, given):
    service = one(cluster, "services", kserve_names.picker_service("helper"))["spec"]
    assert service["selector"] == kserve_names.picker_labels("helper")
    assert 9002 in {each["port"] for each in service["ports"]}
    pool = one(cluster, "inferencepools", kserve_names.pool("helper"))["spec"]
    assert contained(given["spec"]["router"]["scheduler"]["pool"]["spec"], pool)
    names = {each["metadata"]["name"] for each in cluster.kubectl.get("roles", namespace="models")}
    assert "helper-epp-role" in names


def test_what_waits_for_a_gateway_is_said_and_nothing_else_is_wrong(cluster, laid):
    """`Ready` stays false, by the pool alone; no definition that is not there was missed."""
    said = {each["type"]: each for each in laid["status"]["conditions"]}
    assert said["PresetsCombined"]["status"] == "True"
    assert said["InferencePoolReady"]["reason"] == "WaitingForGateway"
    assert {kind for kind, each in said.items() if each["status"] == "False"} <= {
        "Ready", "RouterReady", "InferencePoolReady", "SchedulerWorkloadReady", "MainWorkloadReady", "WorkloadsReady",
    }  # fmt: skip
    events = cluster.kubectl.get("events", namespace="models")
    assert not [each["message"] for each in events if each["reason"] == "Error"]


@pytest.mark.usefixtures("laid")
def test_a_change_reaches_the_engines_and_a_service_that_goes_takes_its_own_pool_alone(cluster, given):
    other = definitions()[0]["spec"]["names"]["kind"]
    ours = given["spec"]["router"]["scheduler"]["pool"]["spec"]
    pool = {"apiVersion": "inference.networking.k8s.io/v1", "kind": other, "metadata": {"name": "ours"}, "spec": ours}
    cluster.apply([placed(pool)])
    cluster.apply([placed(given | {"spec": given["spec"] | {"replicas": 3}})])
    engines = kserve_names.engines("helper")
    until(lambda: one(cluster, "deployments", engines)["spec"]["replicas"] == 3)
    cluster.kubectl.delete("llminferenceservice", "helper", namespace="models")
    until(
        lambda: (
            [each["metadata"]["name"] for each in cluster.kubectl.get("inferencepools", namespace="models")] == ["ours"]
        )
    )
    for name in kserve.PRESETS:
        cluster.kubectl.delete("llminferenceserviceconfig", name, namespace="models")
    assert not cluster.kubectl.get("llminferenceserviceconfigs", namespace="models")
