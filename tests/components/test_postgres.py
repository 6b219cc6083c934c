"""The database server's settings: a function of its memory, cores, connections and volumes."""

import pytest

from components.postgres import backups, component
from components.postgres import objects as postgres
from components.postgres.parameters import parameters
from rackwright.site.postgresql import Backups, Database, Postgresql


def settings(**changes) -> Postgresql:
    return Postgresql(
        **{"size_gb": 100, "wal_size_gb": 20, "memory_gib": 64, "cores": 16, "connections": 300} | changes
    )


def megabytes(text: str) -> int:
    assert text.endswith("MB")
    return int(text.removesuffix("MB"))


@pytest.mark.parametrize("memory_gib", [1, 2, 16, 64, 512])
@pytest.mark.parametrize("connections", [20, 300, 5000])
@pytest.mark.parametrize("cores", [1, 4, 64])
@pytest.mark.parametrize("wal_size_gb", [1, 20, 1000])
def test_settings_fit_what_they_are_for(memory_gib, connections, cores, wal_size_gb):
    postgresql = settings(memory_gib=memory_gib, connections=connections, cores=cores, wal_size_gb=wal_size_gb)
    found = parameters(postgresql)
    assert all(isinstance(value, str) for value in found.values())
    memory = memory_gib * 1024
    assert megabytes(found["shared_buffers"]) == memory // 4
    assert megabytes(found["shared_buffers"]) < megabytes(found["effective_cache_size"]) < memory
    assert megabytes(found["maintenance_work_mem"]) <= memory // 8 or memory_gib == 1
    assert megabytes(found["work_mem"]) * connections <= memory // 4 or found["work_mem"] == "4MB"
    assert int(found["max_connections"]) > connections
    assert megabytes(found["min_wal_size"]) <= megabytes(found["max_wal_size"]) < wal_size_gb * 1000
    assert (
        int(found["max_parallel_workers_per_gather"])
        <= int(found["max_parallel_workers"])
        <= int(found["max_worker_processes"])
    )
    assert found["huge_pages"] == "off"


def test_one_instance_lets_its_node_be_drained_and_three_lose_nothing(example, catalog):
    def spec(spread):
        return postgres.cluster(example.postgresql, spread, image=catalog.images["postgresql"])["spec"]

    one, three = spec(example.postgresql.phase1), spec(example.postgresql.phase2)
    assert one["instances"] == 1
    assert one["enablePDB"] is False
    assert "synchronous" not in one["postgresql"]
    assert three["instances"] == 3
    assert three["enablePDB"] is True
    assert three["affinity"]["podAntiAffinityType"] == "required"
    assert three["postgresql"]["synchronous"] == {
        "method": "any",
        "number": 1,
        "dataDurability": "required",
        "failoverQuorum": True,
    }
    assert one["resources"]["requests"] == one["resources"]["limits"]
    assert one["walStorage"]["size"] == f"{example.postgresql.wal_size_gb}G"


def test_an_operator_outlives_the_node_of_a_primary(example):
    assert component.values(example.postgresql.phase1)["replicaCount"] == 1
    later = component.values(example.postgresql.phase2)
    assert later["replicaCount"] == 2
    assert later["affinity"]["podAntiAffinity"]


def test_backups_go_to_the_site_s_store_each_server_s_to_its_own_folder(lab, catalog):
    asked = lab.postgresql.backups
    store = backups.store(lab.object_storage, asked)["spec"]
    assert store["configuration"]["destinationPath"] == "s3://rackwright/postgresql"
    assert store["configuration"]["endpointURL"] == lab.object_storage.endpoint
    assert store["retentionPolicy"] == f"{asked.retention_days}d"
    assert "serverName" not in store["configuration"]  # kept empty for the plugin, whose parameter it is
    keys = backups.keys(lab.object_storage, "x", "y")
    read = store["configuration"]["s3Credentials"].values()
    assert {each["name"] for each in read} == {keys["metadata"]["name"]}
    assert {each["key"] for each in read} == set(keys["stringData"])
    image = catalog.images["postgresql"]
    plugins = backups.archiving("one")
    cluster = postgres.cluster(lab.postgresql, lab.postgresql.phase2, image=image, plugins=plugins)
    (plugin,) = cluster["spec"]["plugins"]
    assert plugin["isWALArchiver"]
    assert plugin["parameters"] == {"barmanObjectName": backups.STORE, "serverName": "one"}
    assert "plugins" not in postgres.cluster(lab.postgresql, lab.postgresql.phase2, image=image)["spec"]


def test_a_sidecar_leaves_its_instance_guaranteed(lab):
    resources = backups.store(lab.object_storage, lab.postgresql.backups)["spec"]["instanceSidecarConfiguration"]
    assert resources["resources"]["requests"] == resources["resources"]["limits"]


def test_the_daily_backup_has_six_fields_and_its_hour():
    schedule = backups.schedule(Backups(hour=23, retention_days=7))["spec"]
    assert schedule["schedule"].split() == ["0", "0", "23", "*", "*", "*"]
    assert (schedule["method"], schedule["pluginConfiguration"]["name"]) == ("plugin", backups.PLUGIN)


def test_each_database_has_its_own_owner_and_secret(example, catalog):
    cluster = postgres.cluster(example.postgresql, example.postgresql.phase1, image=catalog.images["postgresql"])
    roles = {role["name"]: role["passwordSecret"]["name"] for role in cluster["spec"]["managed"]["roles"]}
    assert roles == {name: f"postgres-{name}" for name in ("langgraph", "mlflow", "langfuse")}
    for database in example.postgresql.databases:
        manifest = postgres.database(database)
        assert manifest["spec"]["owner"] in roles
        assert manifest["spec"]["cluster"]["name"] == cluster["metadata"]["name"]
        secret = postgres.password(database.owner, "x")
        assert secret["metadata"]["name"] == roles[database.owner]
        assert secret["stringData"]["username"] == database.owner
        assert secret["type"] == "kubernetes.io/basic-auth"


def test_names_of_objects_are_dns_labels_whatever_sql_allows():
    database = Database(name="my_app", owner="my_owner")
    assert postgres.database(database)["metadata"]["name"] == "my-app"
    assert postgres.database(database)["spec"]["name"] == "my_app"
    assert postgres.secret_name("my_owner") == "postgres-my-owner"


def test_an_owner_of_two_databases_is_one_role():
    databases = (Database(name="one", owner="me"), Database(name="two", owner="me"))
    assert postgres.owners(settings(databases=databases)) == ("me",)
