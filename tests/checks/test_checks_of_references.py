"""References that lead nowhere, on a real control plane that took them without a word."""

import pytest
from broken_objects import deployment

from rackwright.checks.findings import Outcome
from rackwright.checks.objects import Objects
from rackwright.checks.run import CHECKS, Ground

VOLUMES = {
    "Secret": {"secret": {"secretName": "gone"}},
    "ConfigMap": {"configMap": {"name": "gone"}},
    "PersistentVolumeClaim": {"persistentVolumeClaim": {"claimName": "gone"}},
    "CSIDriver": {"csi": {"driver": "gone"}},
    "StorageClass": {
        "ephemeral": {
            "volumeClaimTemplate": {
                "spec": {
                    "storageClassName": "gone",
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1G"}},
                }
            }
        }
    },
    "Secret in a projection": {"projected": {"sources": [{"secret": {"name": "gone"}}]}},
}
POD = {
    "ServiceAccount": {"serviceAccountName": "gone"},
    "PriorityClass": {"priorityClassName": "gone"},
    "RuntimeClass": {"runtimeClassName": "gone"},
    "Secret": {"imagePullSecrets": [{"name": "gone"}]},
}
VARIABLES = {
    "Secret": {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "gone", "key": "a"}}}]},
    "ConfigMap": {"envFrom": [{"configMapRef": {"name": "gone"}}]},
}


def with_pod(**spec):
    made = deployment("pointing")
    made["spec"]["template"]["spec"] |= spec
    return made


def as_live(objects: Objects) -> Objects:
    """The same cluster, as if its nodes were real ones."""
    kinds = objects._kinds
    everything = [each for kind in kinds.values() for each in kind.values()]
    for node in kinds["Node"].values():
        node["metadata"]["annotations"] = {}
    return Objects(everything)


@pytest.mark.parametrize("volume", VOLUMES.values(), ids=VOLUMES)
def test_a_volume_of_what_is_not_there_is_told(platform, volume):
    with platform.added(with_pod(volumes=[{"name": "v", **volume}])):
        (fault,) = platform.failures("references")
    assert fault.where == "Deployment qdrant/pointing, volume v"
    assert "gone" in fault.what


@pytest.mark.parametrize("spec", POD.values(), ids=POD)
def test_a_pod_that_names_what_is_not_there_is_told(platform, spec):
    with platform.added(with_pod(**spec)):
        (fault,) = platform.failures("references")
    assert "gone, which is not there" in fault.what


@pytest.mark.parametrize("container", VARIABLES.values(), ids=VARIABLES)
def test_a_variable_of_what_is_not_there_is_told(platform, container):
    with platform.added(deployment("pointing", **container)):
        (fault,) = platform.failures("references")
    assert fault.where == "Deployment qdrant/pointing, container main"


def test_what_is_marked_optional_may_be_missing(platform):
    optional = {"secret": {"secretName": "gone", "optional": True}}
    with platform.added(with_pod(volumes=[{"name": "v", **optional}])):
        assert not platform.failures("references")


def test_a_key_that_the_secret_does_not_have_is_told_with_those_that_it_has(platform):
    variable = {"name": "A", "valueFrom": {"secretKeyRef": {"name": "qdrant-keys", "key": "api_key"}}}
    with platform.added(deployment("pointing", env=[variable])):
        (fault,) = platform.failures("references")
    assert "names the key api_key of Secret qdrant/qdrant-keys" in fault.what
    assert "api-key" in fault.what


def test_a_deleted_secret_is_missed_by_everything_that_names_it(platform):
    with platform.without("secret", "qdrant-keys", "qdrant"):
        faults = platform.failures("references")
    assert {each.where for each in faults} == {
        "StatefulSet qdrant/qdrant, container qdrant",
        "ServiceMonitor qdrant/qdrant",
    }


def test_a_stateful_set_without_its_service_is_told(platform):
    with platform.without("service", "qdrant-headless", "qdrant"):
        assert "Service qdrant/qdrant-headless" in " ".join(each.what for each in platform.failures("references"))


def test_a_missing_storage_class_is_missed_by_claims_and_databases(platform):
    with platform.without("storageclass", "nvme-database"):
        wheres = {each.where for each in platform.failures("references")}
    assert "Cluster postgres/postgres, storage" in wheres
    assert "PersistentVolumeClaim postgres/postgres-1" in wheres


def test_a_missing_storage_driver_is_missed_by_the_classes(platform):
    with platform.without("csidriver", "topolvm.io"):
        assert all(each.where.startswith("StorageClass") for each in platform.failures("references"))


def test_a_database_owner_without_a_password_is_told(platform):
    with platform.without("secret", "postgres-mlflow", "postgres"):
        wheres = {each.where for each in platform.failures("references")}
    assert wheres == {"Cluster postgres/postgres, role mlflow"}


def test_an_issuer_that_is_not_there_is_told(platform):
    with platform.without("clusterissuer", "rackwright-authority"):
        (fault,) = platform.failures("references")
    assert fault.where == "Certificate gateway/gateway"


def test_a_role_that_is_not_there_is_told(platform):
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "pointing", "namespace": "qdrant"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "gone"},
        "subjects": [{"kind": "ServiceAccount", "name": "absent"}],
    }
    with platform.added(binding):
        faults = platform.failures("references")
    assert {each.what.split(",")[0] for each in faults} == {
        "names Role qdrant/gone",
        "names ServiceAccount qdrant/absent",
    }


def test_what_an_operator_still_has_to_make_is_told_and_on_a_live_cluster_missed(platform):
    with (
        platform.without("stage", "certificate-is-issued"),
        platform.without("secret", "gateway-tls", "gateway"),
    ):
        objects = platform.access.objects()
    ground = Ground(objects, platform.access, platform.site, 1, platform.catalog)
    look = next(check.look for check in CHECKS if check.name == "references")
    (told,) = [each for each in look(ground) if each.outcome is Outcome.NOT_SEEN]
    assert "cert-manager makes for Certificate gateway/gateway" in told.what
    (missed,) = platform.failures("references", objects=as_live(objects))
    assert "has not made" in missed.what


def test_values_of_secrets_are_dropped_on_the_way_in(platform):
    secret = platform.access.objects().get("Secret", "qdrant-keys", "qdrant")
    assert secret["data"] == dict.fromkeys(("api-key", "application-key", "read-only-api-key"), "")
