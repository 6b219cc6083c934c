"""How a tenant's class goes on: as headers that the gateway alone sets, for the router and for the engine.

vLLM takes a priority from a request's body, too. Where the header is set, the body's is not looked at (vLLM 0.30.0,
entrypoints/generate/base/serving.py), in every part of its API that routes.API lets through.
"""

from typing import Any

from components.gateway.filters import kind, typed
from components.gateway.place import CLASS_HEADER, TENANT_HEADER
from rackwright.site.priorities import objective, of_engine
from rackwright.site.tenants import Tenant

OBJECTIVE_HEADER, FAIRNESS_HEADER = "x-llm-d-inference-objective", "x-llm-d-inference-fairness-id"
ENGINE_HEADER = "x-vllm-priority"
MUTATION, SHORT = "envoy.filters.http.header_mutation", "http.header_mutation.v3"


def said_of(tenant: Tenant) -> dict[str, str]:
    """What the tenant's route says, whichever model is asked for."""
    return {
        TENANT_HEADER: tenant.name,
        CLASS_HEADER: tenant.priority,
        ENGINE_HEADER: str(of_engine(tenant.priority)),
    }


def mutation() -> dict[str, Any]:
    """The filter that tells each model what it understands; what that is stands at the model's route."""
    return typed(MUTATION, f"{SHORT}.HeaderMutation")


def told(model: str, *, picked: bool, by_priority: bool) -> dict[str, Any]:
    """A route's part: the router reads the objective and the tenant, an engine that schedules by priority its own."""
    changes: list[dict[str, Any]] = []
    if picked:
        changes.append(_set(OBJECTIVE_HEADER, objective(model, f"%REQ({CLASS_HEADER})%")))
        changes.append(_set(FAIRNESS_HEADER, f"%REQ({TENANT_HEADER})%"))
    if not by_priority:
        changes.append({"remove": ENGINE_HEADER})
    return {MUTATION: kind(f"{SHORT}.HeaderMutationPerRoute") | {"mutations": {"request_mutations": changes}}}


def _set(key: str, value: str) -> dict[str, Any]:
    return {"append": {"header": {"key": key, "value": value}, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"}}
