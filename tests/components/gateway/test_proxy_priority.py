"""A tenant's class, as its model's router and engine hear of it; what a client says of itself is never heard."""

import pytest
from stand_in_engine import Engine
from stand_in_picker import Picker

from components.gateway.place import CLASS_HEADER, TENANT_HEADER
from components.gateway.routes import API
from components.gateway.urgency import ENGINE_HEADER, FAIRNESS_HEADER, OBJECTIVE_HEADER
from rackwright.site.priorities import of_engine
from rackwright.site.tenants import Tenant

CLASSES = ("interactive", "agents", "batch")
CHAT = "/v1/chat/completions"
CLAIMS = {
    "X-Vllm-Priority": "-1000000",
    "x-llm-d-inference-objective": "llama-interactive",
    "x-llm-d-inference-fairness-id": "somebody-else",
    "x-gateway-inference-objective": "llama-interactive",
    "x-gateway-destination-endpoint": "10.0.0.1:80",
    "X-Rackwright-Class": "interactive",
    "X-Rackwright-Tenant": "somebody-else",
}


@pytest.fixture
def tenants():
    return tuple(Tenant(name=f"of-{each}", key=f"{each}_key", priority=each) for each in CLASSES)


def heard(proxy, tenant, model="llama", headers=None, **body):
    """The headers with which a request reached its engine."""
    answer = proxy.client(tenant, **(headers or {})).post(f"/{model}{CHAT}", json={"model": model, **body})
    assert answer.status_code == 200
    return proxy.engines[model].seen[-1]


@pytest.mark.parametrize("claims", [{}, CLAIMS], ids=["silent", "claims"])
def test_engine_and_router_are_told_the_tenants_class_and_nothing_that_a_client_claims(start, tenants, claims):
    engine = Engine()
    picker = Picker(engine.address)
    proxy = start(tenants=tenants, told={"pickers": {"llama": [picker.address]}, "by_priority": ("llama",)})
    proxy.engines["llama"] = engine
    for each in CLASSES:
        seen = heard(proxy, f"of-{each}", headers=claims, priority=-1000000)
        assert seen[ENGINE_HEADER] == str(of_engine(each))
        assert seen[OBJECTIVE_HEADER] == f"llama-{each}"
        assert seen[FAIRNESS_HEADER] == seen[TENANT_HEADER] == f"of-{each}"
        assert seen[CLASS_HEADER] == each
        assert seen["x-gateway-destination-endpoint"] == engine.address
        assert picker.asked[-1][OBJECTIVE_HEADER] == seen[OBJECTIVE_HEADER]
        assert "x-gateway-inference-objective" not in seen
    picker.end()


def test_each_model_is_told_what_it_understands(start, tenants):
    engine = Engine()
    picker = Picker(engine.address)
    proxy = start(tenants=tenants, told={"pickers": {"llama": [picker.address]}, "by_priority": ("qwen",)})
    proxy.engines["llama"] = engine
    llama, qwen = heard(proxy, "of-batch", headers=CLAIMS), heard(proxy, "of-batch", "qwen", headers=CLAIMS)
    assert (llama[OBJECTIVE_HEADER], llama[FAIRNESS_HEADER]) == ("llama-batch", "of-batch")
    assert ENGINE_HEADER not in llama
    assert qwen[ENGINE_HEADER] == str(of_engine("batch"))
    assert not {OBJECTIVE_HEADER, FAIRNESS_HEADER} & set(qwen)
    picker.end()


def test_first_come_first_served_hears_of_no_class(start, tenants):
    """Phase 1: no router, and an engine that would not look at it."""
    proxy = start(tenants=tenants)
    assert not {OBJECTIVE_HEADER, FAIRNESS_HEADER, ENGINE_HEADER} & set(heard(proxy, "of-batch", headers=CLAIMS))


@pytest.mark.parametrize("models", [("llama",), ("llama", "qwen")], ids=["one", "two"])
def test_what_would_take_the_bodys_priority_is_not_reached(start, models):
    proxy = start(models=models)
    client = proxy.client()
    for path in ("chat/completions/batch", "load_lora_adapter", "completions/render", "chat/completionsX", "x/models"):
        assert client.post(f"/llama/v1/{path}", json={"priority": -5}).status_code == 404, path
        assert client.post(f"/v1/{path}", json={"priority": -5}).status_code == 404, path
    assert not proxy.engines["llama"].seen
    for path in API:
        assert client.post(f"/llama/v1/{path}?beta=true", json={}).status_code == 200, path
    assert proxy.engines["llama"].paths == [f"/v1/{path}?beta=true" for path in API]
