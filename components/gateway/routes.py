"""Which way a request goes: by its key to its tenant, and from there by its path to a model."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from components.gateway.clusters import cluster_of, model_name
from components.gateway.filters import kind, no_body, rate_limit, share
from components.gateway.picking import AGAIN, asked, first_attempt, once_more, picked_name
from components.gateway.tokens import charged_to, counted
from components.gateway.urgency import said_of, told
from rackwright.site.gateway import Gateway
from rackwright.site.tenants import Tenant

Route = dict[str, Any]
# What tenants may call of an engine's API, below /v1/. Nothing else: one more path takes the priority that a request's
# body claims, whatever the gateway says of it (chat/completions/batch), others load weights.
API = ("chat/completions", "completions", "messages", "messages/count_tokens", "models", "responses")
PREVIOUS = "envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate"
NOT_BEGUN: dict[str, Any] = {
    "retry_on": "connect-failure,reset-before-request,retriable-status-codes",
    "retriable_status_codes": [503],  # a door's, whose engine is gone
    "num_retries": 2,
    # Elsewhere: one that has just died counts as well for some seconds, and would be chosen again.
    "retry_host_predicate": [
        {
            "name": "envoy.retry_host_predicates.previous_hosts",
            "typed_config": {"@type": f"type.googleapis.com/{PREVIOUS}"},
        }
    ],
    "host_selection_retry_max_attempts": 5,
}


def tenant_routes(
    gateway: Gateway, tenants: Sequence[Tenant], keys: Mapping[str, str], *, counting: bool = False
) -> list[Route]:
    """A key is the only thing that leads to a tenant; whoever has none is told so.

    Routes match keys, rather than the filter that Envoy has for them: that one is still work in progress, which its
    authors keep out of their threat model. One route a tenant, since each has a bucket of its own.
    """
    return [
        *(_tenant_route(gateway, tenant, keys[tenant.key], counting=counting) for tenant in tenants),
        {
            "name": "none",
            "match": {"prefix": "/"},
            "direct_response": {"status": 401, "body": {"inline_string": "this needs a tenant's API key"}},
            "response_headers_to_add": [_header("www-authenticate", "Bearer")],
            "typed_per_filter_config": no_body(),
        },
    ]


def model_routes(
    gateway: Gateway, models: Sequence[str], *, picked: Collection[str] = (), by_priority: Collection[str] = ()
) -> list[Route]:
    """A prefix for each model; a site with one model needs none.

    `picked` are models whose router chooses a replica, `by_priority` those whose engines schedule by priority.
    """
    ways = [(f"/{model}", model) for model in models] + [("", model) for model in models if len(models) == 1]
    routes = []
    for prefix, model in ways:
        by_engine = model in by_priority
        if model in picked:
            routes.append(_picked_route(gateway, prefix, model, told(model, picked=True, by_priority=by_engine)))
        spread = told(model, picked=False, by_priority=by_engine)
        routes.append(_model_route(gateway, prefix, model) | {"typed_per_filter_config": spread})
    return routes


def one_place_for_keys() -> dict[str, Any]:
    """What clients of Anthropic's API put elsewhere is brought to where those of OpenAI's have it, before any route."""
    moved = {"key": "authorization", "value": "Bearer %REQ(X-API-KEY)%"}
    mutation = {"append": {"header": moved, "append_action": "ADD_IF_ABSENT"}}
    short = "early_header_mutation.header_mutation.v3.HeaderMutation"
    return {
        "name": "envoy.http.early_header_mutation.header_mutation",
        "typed_config": kind(short, family="http") | {"mutations": [mutation]},
    }


def _tenant_route(gateway: Gateway, tenant: Tenant, key: str, *, counting: bool) -> Route:
    charged = charged_to(tenant) if counting and counted(tenant) else {}
    limited = rate_limit(tenant.name, share(tenant.limits.requests_per_minute, gateway))
    return {
        "name": tenant.name,
        "match": {
            "prefix": "/",
            "headers": [{"name": "authorization", "string_match": {"exact": f"Bearer {key}"}}],
        },
        "route": {
            "cluster": cluster_of(tenant),
            "timeout": f"{gateway.request_timeout_s}s",
            "retry_policy": once_more(),
        },
        "request_body_buffer_limit": gateway.request_limit_mib * 2**20,  # or only small requests could be sent again
        "response_headers_to_remove": [AGAIN],
        "request_headers_to_remove": ["authorization", "x-api-key"],
        "request_headers_to_add": [_header(name, value) for name, value in said_of(tenant).items()],
        "typed_per_filter_config": limited | charged,
    }


def _model_route(gateway: Gateway, prefix: str, model: str) -> Route:
    way: dict[str, Any] = {"cluster": model_name(model), "timeout": f"{gateway.request_timeout_s}s"}
    if prefix:
        way["regex_rewrite"] = {"pattern": {"regex": f"^{prefix}/"}, "substitution": "/"}
    match = {"safe_regex": {"regex": f"{prefix}/v1/({'|'.join(API)})"}}
    return {"name": model, "match": match, "route": way | {"retry_policy": NOT_BEGUN}}


def _picked_route(gateway: Gateway, prefix: str, model: str, words: dict[str, Any]) -> Route:
    """The first attempt: where the picker says. Another one comes to the model's own route, which stands below."""
    route = _model_route(gateway, prefix, model)
    match = route["match"] | {"headers": [first_attempt()]}
    way = {key: value for key, value in route["route"].items() if key != "retry_policy"}
    return route | {
        "match": match,
        "route": way | {"cluster": picked_name(model)},
        "typed_per_filter_config": words | asked(model, gateway),
    }


def _header(key: str, value: str) -> dict[str, Any]:
    return {"header": {"key": key, "value": value}, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"}
