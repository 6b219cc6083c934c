"""The service that counts tokens: what it is told, and what its pod may do."""

import json

import pytest
import yaml

from components.gateway import quotas
from components.gateway.tokens import DOMAIN, KEY, SERVICE, charged_to
from rackwright.site.catalog import Image
from rackwright.site.tenants import Limits, Tenant

IMAGE = Image(repository="ratelimit", tag="x")
TENANTS = (
    Tenant(name="chat", key="chat_key", limits=Limits(tokens_per_minute=1_000_000_000)),
    Tenant(name="batch", key="batch_key"),
)


@pytest.fixture
def pod():
    return quotas.deployment(image=IMAGE, store=IMAGE, version="x")["spec"]["template"]["spec"]


def test_a_limit_stands_for_each_tenant_that_has_one_under_the_name_that_is_charged():
    told = yaml.safe_load(quotas.configuration(TENANTS)["data"]["tokens.yaml"])
    assert told["domain"] == DOMAIN
    (limit,) = told["descriptors"]
    assert limit["rate_limit"] == {"unit": "minute", "requests_per_unit": 1_000_000_000}
    for each in charged_to(TENANTS[0])["envoy.filters.http.ratelimit"]["rate_limits"]:
        (action,) = each["actions"]
        assert action["generic_key"] == {"descriptor_key": limit["key"], "descriptor_value": limit["value"]}
    assert limit["key"] == KEY


def test_its_largest_limit_is_a_number_that_the_service_can_hold():
    largest = max(meta.le for meta in Limits.model_fields["tokens_per_minute"].metadata if hasattr(meta, "le"))
    assert largest < 2**32
    assert largest <= 1_000_000_000  # the most that Envoy adds at once


def test_the_proxies_find_it_by_its_service():
    assert quotas.address("gateway") == f"{SERVICE}.gateway.svc.cluster.local:{quotas.PORT}"
    spec = quotas.service()["spec"]
    assert spec["selector"] == quotas.LABELS
    assert [port["port"] for port in spec["ports"]] == [quotas.PORT]


def test_store_and_service_meet_at_one_socket_that_nobody_else_reaches(pod):
    (store,), (service,) = pod["initContainers"], pod["containers"]
    told = {each["name"]: each["value"] for each in service["env"]}
    command = store["command"]
    assert command[command.index("--unixsocket") + 1] == told["REDIS_URL"]
    assert command[command.index("--port") + 1] == "0"
    assert store["restartPolicy"] == "Always"  # it starts before the service, and stays
    folder = told["REDIS_URL"].rpartition("/")[0]
    assert all(folder in [mount["mountPath"] for mount in each["volumeMounts"]] for each in (store, service))


def test_the_file_is_where_the_service_looks(pod):
    (service,) = pod["containers"]
    told = {each["name"]: each["value"] for each in service["env"]}
    assert f"{told['RUNTIME_ROOT']}/config" in [mount["mountPath"] for mount in service["volumeMounts"]]
    assert json.loads(quotas.limits(TENANTS))


def test_it_is_no_one_and_writes_nowhere(pod):
    assert pod["securityContext"]["runAsNonRoot"] is True
    for each in (*pod["initContainers"], *pod["containers"]):
        assert each["securityContext"]["readOnlyRootFilesystem"] is True
        assert each["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert each["resources"]["limits"]["memory"]
