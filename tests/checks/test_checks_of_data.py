"""Checks of databases, certificates, claims and drives, each made to fail on a real control plane."""

from broken_objects import until


def test_a_database_that_nobody_asked_for_is_missed(platform):
    with platform.without("database", "mlflow", "postgres"):
        (fault,) = platform.failures("databases")
    assert fault.where == "Database mlflow"


def test_a_database_that_is_not_applied_is_told_with_the_operators_reason(platform):
    refused = {"status": {"applied": False, "message": "role is missing"}}
    with (
        platform.without("stage", "database-is-applied"),
        platform.changed("database", "mlflow", "postgres", refused, "status"),
    ):
        (fault,) = platform.failures("databases")
    assert "role is missing" in fault.what


def test_a_cluster_that_lacks_an_instance_is_told(platform):
    with (
        platform.without("stage", "database-instance-is-added"),
        platform.changed("clusters.postgresql.cnpg.io", "postgres", "postgres", {"spec": {"instances": 3}}),
    ):
        (fault,) = platform.failures("databases")
    assert "has 1 of 3 instances" in fault.what


def test_a_certificate_that_is_not_issued_is_told_with_the_reason(platform):
    refused = {"status": {"conditions": [{"type": "Ready", "status": "False", "message": "issuer not found"}]}}
    with (
        platform.without("stage", "certificate-is-issued"),
        platform.changed("certificate", "gateway", "gateway", refused, "status"),
    ):
        (fault,) = platform.failures("certificates")
    assert fault.where == "Certificate gateway/gateway"
    assert "issuer not found" in fault.what


def test_a_prometheus_that_lacks_a_replica_is_told(platform):
    name = "kube-prometheus-stack-prometheus"
    with platform.changed("prometheus", name, "monitoring", {"status": {"availableReplicas": 0}}, "status"):
        faults = platform.failures("monitoring")
    assert [each.where for each in faults] == [f"Prometheus monitoring/{name}"]
    with platform.without("alertmanager", "kube-prometheus-stack-alertmanager", "monitoring"):
        assert [each.where for each in platform.failures("monitoring")] == ["Alertmanager"]


def test_a_claim_without_a_volume_is_told(platform):
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "unbound", "namespace": "qdrant"},
        "spec": {
            "storageClassName": "nvme-vectors",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1G"}},
        },
    }
    with platform.added(claim):
        (fault,) = until(lambda: platform.failures("claims"))
    assert fault.where == "PersistentVolumeClaim qdrant/unbound"


def test_data_on_the_wrong_drives_is_told(platform):
    vectors = platform.site.vectors.model_copy(update={"storage_class": "nvme-models"})
    faults = platform.failures("classes", platform.site.model_copy(update={"vectors": vectors}))
    assert len(faults) == 2  # data and snapshots
    assert "the site says nvme-models for Qdrant" in faults[0].what


def test_volumes_that_are_more_than_the_drives_are_told(platform):
    host = platform.site.hosts[0]
    small = [disk.model_copy(update={"size_gb": 100}) if disk.purpose == "vectors" else disk for disk in host.disks]
    site = platform.site.model_copy(update={"hosts": (host.model_copy(update={"disks": tuple(small)}),)})
    (fault,) = platform.failures("room", site)
    assert fault.where == "ws-01, vectors"


def test_the_scheduler_itself_refuses_a_volume_that_no_drive_holds(platform):
    large = {"requests": {"storage": "9000G"}}
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "large", "namespace": "monitoring"},
        "spec": {"storageClassName": "nvme-scratch", "accessModes": ["ReadWriteOnce"], "resources": large},
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "large", "namespace": "monitoring"},
        "spec": {
            "containers": [{"name": "main", "image": "example.org/a:1"}],
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "large"}}],
        },
    }
    with platform.added(claim, pod):
        faults = until(lambda: [each for each in platform.failures("pods") if "storage" in each.what])
    assert "did not have enough free storage" in faults[0].what
