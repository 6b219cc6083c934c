"""The real kubeadm founds a real cluster from what is rendered, and lets others in; only containers are played.

etcd, API server, controller manager and scheduler run with the very arguments that kubeadm gave their pods, as
processes of a machine made of namespaces; their kubelet is pretended. What they refuse to start with is seen here.
"""

import json
import os
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import pytest
import yaml
from pretended_machine import Machine
from waiting import until

from rackwright.metal import kubeadm, kubernetes_plan
from rackwright.metal.kubeconfig import kubeconfig
from rackwright.sandbox import tools
from rackwright.site.catalog import Catalog
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "playbooks/filter_plugins"))

import metal_kubernetes  # noqa: E402 - its folder is Ansible's

PROGRAMS = ("kubeadm", "kubectl", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd")
SITE = Site.load(ROOT / "tests/fixtures/valid/small_rack.yml")
CONTROL, WORKER = SITE.hosts
API = SITE.clusters.phase2.api
SETTINGS, FOUNDING = "/etc/kubernetes/encryption/configuration.yaml", "/etc/kubernetes/kubeadm.yaml"
ADMIN = {"KUBECONFIG": "/etc/kubernetes/admin.conf"}


def planned(host):
    return kubernetes_plan.plan(
        host,
        SITE.operating_system,
        SITE.clusters.phase2,
        SITE.networks,
        SITE.hosts_in(2, "control"),
        Catalog.load(),
        site=SITE.name,
        minutes=10,
    )


@pytest.fixture(scope="module")
def programs(say):
    if os.geteuid() or subprocess.run(["unshare", "--net", "--mount", "true"], check=False).returncode:
        say("NO CLUSTER WAS FOUNDED: namespaces are root's here.")
        pytest.skip("namespaces are root's here")
    return {name: found.path for name, found in tools.ensure(PROGRAMS, say).items()}


@pytest.fixture(scope="module")
def control(programs, tmp_path_factory):
    """The first control host, founded."""
    machine = Machine(tmp_path_factory.mktemp("control") / "machine", CONTROL.name)
    try:
        addresses = "; ".join(f"ip address add {each}/24 dev nodes" for each in (CONTROL.address, API))
        bridge = "ip link add nodes type bridge; ip link set nodes up; ip link set lo up"
        machine.run("sh", "-c", f"{bridge}; {addresses}")  # kube-vip would bring the second one
        wished = planned(CONTROL)
        for file in (*wished["files"], *wished["control_files"]):
            machine.write(file["path"], file["text"])
        machine.write(
            SETTINGS, metal_kubernetes.FilterModule().filters()["kubernetes_encryption"](b64encode(b"k" * 32).decode())
        )
        machine.write(FOUNDING, wished["founding"])
        machine.write("/etc/kubernetes/manifests/kube-vip.yaml", wished["address_pods"]["founding"])
        machine.begin_kubelet(programs)
        init = ("init", "--config", FOUNDING, "--skip-token-print", "--skip-phases=preflight")
        machine.said = machine.run(programs["kubeadm"], *init).stdout
        yield machine
    finally:
        machine.end()


@pytest.fixture(scope="module")
def kubectl(control, programs):
    def ask(*words, **more):
        return control.run(programs["kubectl"], *words, environment=ADMIN, **more)

    return ask


def test_the_cluster_is_what_the_site_says(kubectl):
    node = json.loads(kubectl("get", "node", CONTROL.name, "-o", "json").stdout)
    assert {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"} in node["spec"]["taints"]
    kept = kubectl("-n", "kube-system", "get", "cm", "kubeadm-config", "-o", "jsonpath={.data.ClusterConfiguration}")
    kept = yaml.safe_load(kept.stdout)
    assert (kept["clusterName"], kept["controlPlaneEndpoint"]) == (SITE.name, f"{API}:6443")
    assert kept["networking"]["podSubnet"] == str(SITE.clusters.phase2.pods)


def test_no_token_is_printed(control):
    assert "abcdef" not in control.said
    assert "--token <value withheld>" in control.said


def test_secrets_lie_encrypted_in_etcd(control, kubectl):
    kubectl("create", "secret", "generic", "canary", "--from-literal=word=sesame-open-up")
    kept = control.run(
        "sh", "-c", "cat /var/lib/etcd/member/wal/* /var/lib/etcd/member/snap/db | tr -d '\\0'", check=False
    )
    assert "k8s:enc:secretbox:v1:first" in kept.stdout
    assert "sesame-open-up" not in kept.stdout
    assert "sesame-open-up" not in control.run("cat", "/var/log/kubernetes/audit.log").stdout
    assert '"canary"' in control.run("cat", "/var/log/kubernetes/audit.log").stdout


def test_pods_are_held_to_what_is_restricted(kubectl):
    kubectl("create", "namespace", "anyone")
    given = ("-n", "anyone", "get", "serviceaccount", "default")
    until(lambda: kubectl(*given, check=False).returncode == 0, "no service account, without which no pod is judged")
    refused = kubectl("-n", "anyone", "run", "root", "--image=x", "--privileged", "--dry-run=server", check=False)
    assert refused.returncode
    assert "violates PodSecurity" in refused.stderr


def test_the_pods_network_is_given_once(control, kubectl):
    """The words of the role: what is compared after it was given shows no difference."""
    file = "/etc/kubernetes/network.yaml"
    control.write(file, planned(CONTROL)["network"])
    compared = ("diff", "--server-side", "--field-manager=rackwright", "--filename", file)
    assert kubectl(*compared, check=False).returncode == 1
    kubectl("apply", "--server-side", "--force-conflicts", "--field-manager=rackwright", "--filename", file)
    again = kubectl(*compared, check=False)
    assert (again.returncode, again.stdout) == (0, "")


def test_labels_are_given_once(kubectl):
    words = (
        "label",
        "node",
        CONTROL.name,
        "--overwrite",
        *(f"{key}={value}" for key, value in planned(CONTROL)["labels"].items()),
    )
    assert "not labeled" not in kubectl(*words).stdout
    assert "not labeled" in kubectl(*words).stdout


def test_monitoring_reaches_every_part(control):
    for address in (
        f"http://{CONTROL.address}:2381/metrics",
        *(f"https://{CONTROL.address}:{port}/healthz" for port in (10257, 10259)),
    ):
        until(lambda at=address: control.run("curl", "-ksf", at, check=False).returncode == 0, address)


def test_the_api_says_without_a_key_whether_it_is_ready(control):
    until(
        lambda: control.run("curl", "-ksf", f"https://{CONTROL.address}:6443/readyz", check=False).stdout == "ok",
        "readyz",
    )


def test_certificates_are_good_for_a_year(control, programs):
    said = control.run(programs["kubeadm"], "certs", "check-expiration", "--output", "json").stdout
    assert 360 <= metal_kubernetes.kubernetes_days_left(json.loads(said)) <= 365


def test_the_operators_file_opens_the_cluster(control, programs):
    text = kubeconfig(control.run("cat", "/etc/kubernetes/admin.conf").stdout, "small-phase2", str(API))
    control.write("/etc/kubernetes/operator.conf", text)
    asked = control.run(
        programs["kubectl"], "--kubeconfig", "/etc/kubernetes/operator.conf", "get", "nodes", "-o", "name"
    )
    assert asked.stdout.strip() == f"node/{CONTROL.name}"


def test_what_the_cluster_is_made_from_can_be_told_again(control, programs):
    before = control.run("sh", "-c", "cat /etc/kubernetes/manifests/kube-[acs]*").stdout
    for phase in (("upload-config", "all"), ("control-plane", "all"), ("addon", "all")):
        control.run(programs["kubeadm"], "init", "phase", *phase, "--config", FOUNDING)
    assert control.run("sh", "-c", "cat /etc/kubernetes/manifests/kube-[acs]*").stdout == before


@pytest.fixture(scope="module")
def joined(control, programs, tmp_path_factory):
    """A worker on the same network, joined by file with what kubeadm printed on the control host."""
    machine = Machine(tmp_path_factory.mktemp("worker") / "machine", WORKER.name, beside=control)
    try:
        machine.begin_kubelet({"kubectl": programs["kubectl"]})
        create = ("token", "create", "--ttl", "30m", "--print-join-command")
        printed = control.run(programs["kubeadm"], *create, environment=ADMIN).stdout
        document = metal_kubernetes.kubernetes_joining(planned(WORKER)["joining"], printed)
        machine.write("/etc/kubernetes/joining.yaml", document)
        machine.run(programs["kubeadm"], "join", "--config", "/etc/kubernetes/joining.yaml", "--skip-phases=preflight")
        known = (programs["kubectl"], "get", "node", WORKER.name)
        until(lambda: control.run(*known, check=False, environment=ADMIN).returncode == 0, "the worker's node")
        yield machine
    finally:
        machine.end()


def test_a_worker_joins_by_file(joined, kubectl):
    node = json.loads(kubectl("get", "node", WORKER.name, "-o", "json").stdout)
    assert "node-role.kubernetes.io/control-plane" not in node["metadata"]["labels"]
    assert not [each for each in node["spec"].get("taints") or () if each["key"].startswith("node-role")]
    assert f"--node-ip={WORKER.address}" in joined.run("cat", "/var/lib/kubelet/kubeadm-flags.env").stdout


@pytest.mark.usefixtures("joined")
def test_a_node_is_taken_out(kubectl):
    kubectl("delete", "node", WORKER.name, "--ignore-not-found", "--wait=false")
    assert "deleted" not in kubectl("delete", "node", WORKER.name, "--ignore-not-found", "--wait=false").stdout


def test_the_certificates_of_a_control_host_are_laid_ready(control, programs):
    upload = ("init", "phase", "upload-certs", "--upload-certs", "--config", FOUNDING)
    keys = control.run(programs["kubeadm"], *upload).stdout
    printed = control.run(programs["kubeadm"], "token", "create", "--print-join-command", environment=ADMIN).stdout
    second = CONTROL.model_copy(update={"name": "control-02"})
    document = metal_kubernetes.kubernetes_joining(planned(second)["joining"], printed, keys)
    assert len(yaml.safe_load(document)["controlPlane"]["certificateKey"]) == 64
    control.write("/etc/kubernetes/second.yaml", document)
    control.run(programs["kubeadm"], "config", "validate", "--config", "/etc/kubernetes/second.yaml")


def test_a_founding_that_was_cut_off_is_cleared_and_its_key_kept(control, programs):
    reset = ("reset", "--force", "--cri-socket", kubeadm.SOCKET)
    control.run(programs["kubeadm"], *reset, check=False)
    left = control.run(
        "sh", "-c", "cd /etc/kubernetes && ls *.conf pki manifests encryption kubelet.conf.d 2>/dev/null", check=False
    ).stdout
    assert "configuration.yaml" in left
    assert "10-host.conf" in left
    assert "kubelet.conf\n" not in left
    assert "kube-apiserver.yaml" not in left
