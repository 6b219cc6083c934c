"""A cluster of one node, by the very playbook, with real programs in a booted guest: it runs pods, and stays as it is.

What no registry has it takes from this machine: `RACKWRIGHT_KUBE_ROUTER` names a kube-router of the catalog's version.
"""

import json
import shutil
from pathlib import Path

import cluster_materials
import pytest
import yaml
from waiting import until

from rackwright.metal import kubernetes_plan
from rackwright.sandbox.tools import ensure
from rackwright.site.catalog import Catalog

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "tests/fixtures/valid/small_rack.yml"
HOST, PLAYBOOK = "control-01", "playbooks/kubernetes.yml"
NAME_SERVER = "10.0.0.1"  # it knows the site's names; CoreDNS hands on what it does not know itself
PATIENCE_S = 1200  # everything in a guest is ten times slower, and starts together
MINUTES = 15  # that kubeadm waits for each of its steps
PARTS = {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-vip"}
DAEMONS = {"coredns", "kube-proxy", "kube-router"}
SECRET = "a-word-that-nobody-reads-on-the-drive"
pytestmark = pytest.mark.kubeadm_cluster


@pytest.fixture(scope="module")
def archive(tmp_path_factory, say):
    folder = tmp_path_factory.mktemp("carried")
    try:
        yield cluster_materials.carried(folder, say)
    except LookupError as lacking:
        say(f"NO CLUSTER WAS MADE BY KUBEADM: {lacking}.")
        pytest.skip(f"no cluster can be made by kubeadm here: {lacking}")
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def machines(archive, rack, tmp_path_factory):
    """The control host of a small rack, with what was carried to it."""
    folder = tmp_path_factory.mktemp("small")
    site = yaml.safe_load(SITE.read_text())
    site["clusters"]["phase2"]["kubeconfig"] = str(folder / "kube" / "config")
    site["networks"]["name_servers"] = [NAME_SERVER]
    site["networks"]["nodes"]["gateway"] = NAME_SERVER  # without a route of some kind nothing leads to services
    (folder / "site.yml").write_text(yaml.safe_dump(site, sort_keys=False))
    booted = rack(folder, HOST, memory_mib=3072, processors=2)  # kubeadm takes no machine with one
    guest = booted[HOST]
    (port,) = guest.host.nics
    # What the role network does by a restart: the port gets the site's name and MTU.
    guest.ssh(f"ip link set $(ip -brief link | awk '/{port.mac}/ {{ print $1 }}') name {port.name}")
    guest.ssh(f"ip link set {port.name} mtu {booted.site.networks.nodes.mtu}")
    # A kubelet asks ten times a second for a node that the API does not have yet: here it would leave the API no time.
    guest.ssh("systemctl set-property --runtime system.slice CPUWeight=20")
    address = booted.serve(archive.parent)
    guest.ssh(f"curl -sf {address}/{archive.name} | tar --extract --directory=/ --no-overwrite-dir")
    return booted


@pytest.fixture(scope="module")
def play(machines):
    source = {
        "address": f"file:{cluster_materials.PLACE}", "suite": "./", "components": [], "key": "", "packages": [],
    }  # fmt: skip
    given = {"containerd_source": source, "kubernetes_source": source, "kubernetes_minutes": MINUTES}
    given["kubernetes_founding"] = unhurried(machines)
    return lambda *options: machines.ansible(PLAYBOOK, *options, variables=given)


@pytest.fixture(scope="module")
def kubectl(machines):
    """Asks the cluster from outside, by the file that the playbook left where the site says."""
    site = yaml.safe_load((machines.site_folder / "site.yml").read_text())
    program = ensure(["kubectl"])["kubectl"].path
    opened = [str(program), "--kubeconfig", site["clusters"]["phase2"]["kubeconfig"], "--request-timeout=60s"]

    def ask(*words, may_fail=False):
        done = machines.run([*opened, *words])
        assert may_fail or done.returncode == 0, done.stderr
        return done.stdout

    return ask


@pytest.fixture(scope="module")
def cluster(play, kubectl):
    """The cluster once the playbook ended and every pod of its own runs; how it is asked."""
    play().demand()
    until(lambda: not _waiting(kubectl), "pods of kube-system do not all run", PATIENCE_S)
    return kubectl


@pytest.fixture(scope="module")
def answers(cluster):
    """A Deployment with a service before it, once its pod runs."""
    cluster("apply", "--filename", str(Path(__file__).with_name("answers.yml")))
    until(lambda: _ready(cluster, "default", "app=answers"), "no pod of the Deployment runs", PATIENCE_S)
    return lambda *words: cluster("exec", "deployment/answers", "--", "/bin/busybox", *words, may_fail=True)


def test_the_node_is_ready_and_of_the_catalogs_version(cluster):
    (node,) = json.loads(cluster("get", "nodes", "--output", "json"))["items"]
    states = {each["type"]: each["status"] for each in node["status"]["conditions"]}
    assert node["metadata"]["name"] == HOST
    assert states["Ready"] == "True"
    assert node["status"]["nodeInfo"]["kubeletVersion"] == f"v{Catalog.load().kubernetes.kubeadm}"
    assert node["status"]["nodeInfo"]["containerRuntimeVersion"].startswith("containerd://")


def test_every_part_runs_in_a_container(cluster):
    pods = json.loads(cluster("get", "pods", "--namespace", "kube-system", "--output", "json"))["items"]
    names = [pod["metadata"]["name"] for pod in pods]
    assert {f"{part}-{HOST}" for part in PARTS} <= set(names)
    assert all(any(name.startswith(f"{daemon}-") for name in names) for daemon in DAEMONS)
    assert all(each["ready"] for pod in pods for each in pod["status"]["containerStatuses"])


def test_a_pod_finds_names_through_the_clusters_own_server(answers):
    """By CoreDNS, whose address kube-proxy brings to pods that kube-router gave a port."""
    assert until(lambda: "10.43.0.1" in answers("nslookup", "kubernetes.default.svc.cluster.local"), "no name", 300)
    assert until(lambda: "10.0.0.11" in answers("nslookup", f"{HOST}."), "the site's names are not handed on", 300)


def test_a_deployment_answers_behind_its_service(answers, cluster, machines):
    address = cluster("get", "service", "answers", "--output", "jsonpath={.spec.clusterIP}")
    # Not wget: that of a static BusyBox ends in a fault where an image has no libraries to resolve names with.
    asked = f"printf 'GET / HTTP/1.0\\r\\n\\r\\n' | /bin/busybox nc -w 60 {address} 80"
    assert until(lambda: cluster_materials.ANSWER in answers("sh", "-c", asked), "nothing answers behind it", 600)
    assert machines[HOST].says(f"curl --silent --max-time 60 http://{address}") == cluster_materials.ANSWER


def test_secrets_lie_encrypted_in_etcd(cluster, machines):
    for kind in ("secret generic", "configmap"):
        cluster("create", *kind.split(), "kept", f"--from-literal=word={SECRET}-{kind.split()[0]}")
    grep = "grep --recursive --text --only-matching --no-filename"
    found = machines[HOST].says(f"{grep} '{SECRET}-[a-z]*' /var/lib/etcd")
    assert set(found.split()) == {f"{SECRET}-configmap"}


def test_certificates_are_good_for_most_of_a_year(cluster, machines):
    assert cluster
    said = json.loads(machines[HOST].says("kubeadm certs check-expiration --output json 2>/dev/null"))
    days = {each["name"]: each["residualTime"] / 86400 for each in said["certificates"]}
    assert {"apiserver", "etcd-server", "admin.conf"} <= set(days)
    assert min(days.values()) > 360


def test_a_second_run_changes_nothing(cluster, play):
    again = play().demand()
    assert again.changed == {}
    assert again.stats[HOST]["changed"] == 0
    until(lambda: not _waiting(cluster), "pods of kube-system do not all run any more", PATIENCE_S)


def test_the_machine_ends_in_order(cluster, machines):
    """The kubelet ends its pods first, within the time that it is told."""
    assert cluster
    guest = machines[HOST]
    guest.ssh("systemctl poweroff", check=False)
    until(lambda: not guest.is_on, "the machine does not end", PATIENCE_S)


def unhurried(machines):
    """What the plan founds the cluster from, but that scheduler and controllers hold no lease.

    They renew one every ten seconds or end; there is nobody here who would take it, and no processor to be so quick.
    """
    site, catalog = machines.site, Catalog.load()
    host = machines[HOST].host
    plan = kubernetes_plan.plan(
        host, site.operating_system, site.clusters.phase2, site.networks, [host], catalog,
        site=site.name, minutes=MINUTES, images=None,
    )  # fmt: skip
    documents = list(yaml.safe_load_all(plan["founding"]))
    (whole,) = [each for each in documents if each["kind"] == "ClusterConfiguration"]
    for part in ("controllerManager", "scheduler"):
        whole[part]["extraArgs"].append({"name": "leader-elect", "value": "false"})
    return kubernetes_plan.written(documents)


def _waiting(kubectl):
    """Whether pods of kube-system are missing or not all of them are ready; an API that is silent counts as that."""
    return not _ready(kubectl, "kube-system", "", at_least=len(PARTS) + len(DAEMONS))


def _ready(kubectl, namespace, selector, at_least=1):
    said = kubectl("get", "pods", "--namespace", namespace, "--selector", selector, "--output", "json", may_fail=True)
    pods = json.loads(said)["items"] if said else []
    states = [{each["type"]: each["status"] for each in pod["status"].get("conditions", [])} for pod in pods]
    return len(pods) >= at_least and all(state.get("Ready") == "True" for state in states)
