"""Langfuse: everything that opens something is a key of one Secret, and every store is where it is looked for."""

import pulumi
import pytest
from registered import registered

from components.base import Chart
from components.langfuse import Langfuse as Component
from components.langfuse import stores
from components.langfuse.component import DERIVED, derived
from components.langfuse.values import values
from rackwright.site.langfuse import Langfuse
from rackwright.site.object_storage import ObjectStorage
from rackwright.site.postgresql import Database

STORAGE = ObjectStorage(endpoint="https://s3.lab.internal:9000", bucket="rackwright")
SERVER = {"host": "postgres-rw.postgres.svc", "port": 5432, "namespace_label": "rackwright/uses-postgres=true"}
GIVEN = {*DERIVED, "postgresql", "s3-access-key", "s3-secret-key", "admin", "public-key", "secret-key"}


def told():
    return values("langfuse", Database(name="langfuse", owner="langfuse"), STORAGE, SERVER)


def keys(part) -> set[str]:
    """Every key of the Secret that something names, at any depth."""
    if isinstance(part, list):
        return set().union(*map(keys, part)) if part else set()
    if not isinstance(part, dict):
        return set()
    found = {part["key"]} if part.get("name") == stores.KEYS else set()
    return found.union(*(keys(each) for each in part.values()))


def test_nothing_is_deployed_twice_and_every_store_is_named():
    values = told()
    for part in ("postgresql", "redis", "clickhouse", "s3"):
        assert values[part]["deploy"] is False
    assert values["postgresql"]["host"] == SERVER["host"]
    services = {each["metadata"]["name"]: each["spec"]["ports"] for each in stores.services()}
    for part, name, port in (("redis", "valkey", "port"), ("clickhouse", "clickhouse", "httpPort")):
        assert values[part]["host"] == f"{name}.langfuse.svc"
        assert values[part][port] in {each["port"] for each in services[name]}
    assert values["clickhouse"]["cluster"]["enabled"] is False  # else it makes tables that no Keeper replicates


def test_every_key_that_is_named_is_given():
    values = told()
    named = keys(values)
    for part, key in (("redis", "existingSecretPasswordKey"), ("clickhouse", "existingSecretKey")):
        assert values[part]["auth"]["existingSecret"] == stores.KEYS
        named.add(values[part]["auth"][key])
    named.add(values["postgresql"]["auth"]["secretKeys"]["userPasswordKey"])
    assert named == GIVEN


def test_nobody_signs_up_by_himself_and_nothing_is_told_elsewhere():
    features = told()["langfuse"]["features"]
    assert features == {"telemetryEnabled": False, "signUpDisabled": True}


def test_derived_values_differ_by_purpose_and_key_and_are_what_langfuse_takes():
    made = {derived(purpose, key) for purpose in DERIVED for key in ("one", "two")}
    assert len(made) == 2 * len(DERIVED)
    assert all(len(each) == 64 and int(each, 16) for each in made)
    assert derived("salt", "one") == derived("salt", "one")


def test_stores_keep_what_they_are_given_and_forget_no_job(catalog):
    asked = Langfuse(size_gb=100)
    clickhouse = stores.clickhouse(asked, image=catalog.images["clickhouse"], version="x")
    valkey = stores.valkey(asked, image=catalog.images["valkey"], version="x")
    sizes = [each["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"] for each in (clickhouse, valkey)]
    assert [each["storage"] for each in sizes] == ["100G", "10G"]
    (container,) = valkey["spec"]["template"]["spec"]["containers"]
    told = dict(zip(container["args"], container["args"][1:], strict=False))
    assert told["--maxmemory-policy"] == "noeviction"
    assert told["--appendonly"] == "yes"
    assert 'query_log remove="1"' in stores.configuration()["data"]["rackwright.xml"]


@pytest.fixture(scope="module")
def objects(catalog):
    names = (
        "langfuse_key",
        "langfuse_admin_password",
        "postgresql_langfuse_password",
        "s3_access_key",
        "s3_secret_key",
    )

    def program():
        driver = pulumi.ComponentResource("some:other:Thing", "driver")
        Component(
            "langfuse",
            Langfuse(size_gb=100),
            Database(name="langfuse", owner="langfuse"),
            chart=Chart("langfuse", catalog.charts["langfuse"]),
            images=catalog.images,
            object_storage=STORAGE,
            server=SERVER,
            server_in="postgres",
            secrets={name: pulumi.Output.secret(f"canary-{name}") for name in names},
            volumes=driver,
            after=[driver],
        )

    return registered(program)


def test_names_are_identity(objects):
    assert sorted(objects) == [
        ("ConfigMap", "langfuse/clickhouse"),
        ("Langfuse", "langfuse"),
        ("Namespace", "langfuse/langfuse"),
        ("NetworkPolicy", "langfuse/langfuse"),
        ("Release", "langfuse/langfuse"),
        ("Secret", "langfuse/langfuse-keys"),
        ("Service", "langfuse/clickhouse"),
        ("Service", "langfuse/valkey"),
        ("StatefulSet", "langfuse/clickhouse"),
        ("StatefulSet", "langfuse/valkey"),
        ("Thing", "driver"),
    ]


def test_the_secret_holds_all_that_is_named_and_nothing_else_a_secret(objects):
    given = objects["Secret", "langfuse/langfuse-keys"]["stringData"]["value"]  # it travels wrapped as a secret
    assert set(given) == GIVEN
    assert given["postgresql"] == "canary-postgresql_langfuse_password"
    assert given["clickhouse"] == derived("clickhouse", "canary-langfuse_key")
    rest = {name: inputs for name, inputs in objects.items() if name[0] != "Secret"}
    assert "canary-" not in str(rest)
    assert given["clickhouse"] not in str(rest)


def test_its_namespace_may_call_the_database_and_only_who_may_send_comes_in(objects):
    labels = objects["Namespace", "langfuse/langfuse"]["metadata"]["labels"]
    assert labels["rackwright/uses-postgres"] == "true"
    spec = objects["NetworkPolicy", "langfuse/langfuse"]["spec"]
    ports = [sorted(port["port"] for port in rule["ports"]) for rule in spec["ingress"]]
    assert ports == [[3000], [6379, 8123, 9000]]
    assert [sorted({port["port"] for port in rule["ports"]}) for rule in spec["egress"]] == [
        [53], [6379, 8123, 9000], [5432], [9000],
    ]  # fmt: skip
