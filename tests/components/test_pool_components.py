"""What the components of the pools register, through Pulumi, and who may reach whom."""

import pulumi
import pytest
from registered import registered

from components import gpu_operator, storage
from components.agents import Agents
from components.base.network import pods_in, to_peers
from components.mlflow import Mlflow
from components.training import Training
from rackwright.metal import kube_router
from rackwright.site.agents import Agents as AgentSettings
from rackwright.site.catalog import Image
from rackwright.site.node_marks import taints
from rackwright.site.object_storage import ObjectStorage
from rackwright.site.postgresql import Database
from rackwright.site.training import Training as TrainingSettings

WAY = {"cidr": "0.0.0.0/0", "ports": [443]}
INSIDE = ("10.30.0.0/24", "10.44.0.0/16")
SERVER = {"host": "postgres-rw.postgres.svc", "port": 5432, "namespace_label": "rackwright/uses-postgres=true"}
SECRETS = {"postgresql_mlflow_password": "sesame", "s3_access_key": "access", "s3_secret_key": "secret"}


@pytest.fixture(scope="module")
def objects():
    """All three, laid by themselves."""

    def program():
        door = to_peers([pods_in("gateway")], 8443)
        Agents("agents", AgentSettings(ways_out=[WAY]), to_gateway=door, inside=INSIDE)
        Training("training", TrainingSettings(), reaching=[to_peers([pods_in("mlflow")], 5000)], inside=INSIDE)
        other = pulumi.ComponentResource("some:other:Thing", "other")
        Mlflow(
            "mlflow",
            Database(name="mlflow", owner="mlflow"),
            image=Image(repository="some", tag="x"),
            object_storage=ObjectStorage(endpoint="https://s3.lab.internal", bucket="rackwright"),
            server=SERVER,
            server_in="postgres",
            secrets={name: pulumi.Output.secret(value) for name, value in SECRETS.items()},
            callers=["training"],
            after=[other],
        )

    return registered(program)


def test_names_are_identity(objects):
    """A changed name replaces the thing."""
    laid = {f"{kind} {name}" for kind, name in objects if name.startswith(("agents", "training", "mlflow"))}
    assert laid == {
        "Agents agents", "Namespace agents/agents", "NetworkPolicy agents/agents",
        "PriorityClass agents/rackwright-agents",
        "ResourceQuota agents/tools", "LimitRange agents/tools", "Role agents/run-tools",
        *(f"{kind} agents/rackwright-agents-{what}" for what in ("pods", "jobs")
          for kind in ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")),
        "Training training", "Namespace training/training", "NetworkPolicy training/training",
        "PriorityClass training/rackwright-training", "ResourceQuota training/jobs",
        "ValidatingAdmissionPolicy training/rackwright-training-pods",
        "ValidatingAdmissionPolicyBinding training/rackwright-training-pods",
        "Mlflow mlflow", "Namespace mlflow/mlflow", "NetworkPolicy mlflow/mlflow", "Secret mlflow/stores",
        "Deployment mlflow/mlflow", "Service mlflow/mlflow",
    }  # fmt: skip


def test_what_is_the_clusters_bears_no_namespace(objects):
    for (kind, name), each in objects.items():
        if "metadata" in each:
            is_of_all = kind.startswith(("Validating", "PriorityClass", "Namespace"))
            assert ("namespace" in each["metadata"]) != is_of_all, (kind, name)


def test_a_tool_reaches_names_the_gateway_and_what_is_named_and_nobody_reaches_a_tool(objects):
    spec = objects["NetworkPolicy", "agents/agents"]["spec"]
    assert "ingress" not in spec
    assert spec["policyTypes"] == ["Ingress", "Egress"]
    names, gateway, way = spec["egress"]
    assert {port["port"] for port in names["ports"]} == {53}
    assert gateway["to"] == [pods_in("gateway")]
    (block,) = (each["ipBlock"] for each in way["to"])
    assert block == {"cidr": "0.0.0.0/0", "except": ["10.30.0.0/24", "10.44.0.0/16", "169.254.0.0/16"]}


def test_mlflow_is_let_to_the_database_and_callers_to_it(objects):
    labels = objects["Namespace", "mlflow/mlflow"]["metadata"]["labels"]
    assert labels["rackwright/uses-postgres"] == "true"
    (way,) = objects["NetworkPolicy", "mlflow/mlflow"]["spec"]["ingress"]
    assert pods_in("training") in way["from"]
    given = objects["Secret", "mlflow/stores"]["stringData"]["value"]  # as Pulumi sends what is secret
    assert given["MLFLOW_BACKEND_STORE_URI"].startswith("postgresql+psycopg2://mlflow:sesame@postgres-rw.postgres.svc")


def test_levels_are_as_strict_as_their_pods_allow(objects):
    level = "pod-security.kubernetes.io/enforce"
    levels = {
        name: objects["Namespace", f"{name}/{name}"]["metadata"]["labels"][level] for name in ("agents", "training")
    }
    assert levels == {"agents": "restricted", "training": "baseline"}


def is_tolerated(taint, tolerations):
    return any(
        each.get("operator") == "Exists" and each.get("key") in (None, taint["key"])
        and each.get("effect") in (None, taint["effect"])
        for each in tolerations
    )  # fmt: skip


def test_what_every_node_has_stands_on_hosts_that_are_kept_for_something(lab):
    hosts = lab.hosts_in(2)
    operator = gpu_operator.values(lab.gpu, hosts, 15, "", phase=2)
    volumes = storage.values(hosts)
    (network,) = (each for each in kube_router.objects(lab.networks.nodes, image="x") if each["kind"] == "DaemonSet")
    everywhere = {
        "operands": operator["daemonsets"]["tolerations"],
        "discovery": operator["node-feature-discovery"]["worker"]["tolerations"],
        "volumes": volumes["node"]["tolerations"],
        **{f"lvmd {number}": each["tolerations"] for number, each in enumerate(volumes["lvmd"]["additionalConfigs"])},
        "network": network["spec"]["template"]["spec"]["tolerations"],
    }
    kept = [taint for host in hosts for taint in taints(2, host) if taint["key"].startswith("rackwright/")]
    assert {taint["key"] for taint in kept} == {"rackwright/agents", "rackwright/training"}
    for what, tolerations in everywhere.items():
        assert all(is_tolerated(taint, tolerations) for taint in kept), what
