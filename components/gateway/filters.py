"""What a request passes on its way in, in this order."""

import math
from collections.abc import Sequence
from typing import Any

from rackwright.site.gateway import Gateway

Filter = dict[str, Any]

# Headers by which routers, proxies and engines are steered: a client's own are dropped before anything reads them.
STEERING = (
    "x-data-parallel-",
    "x-encoder-",
    "x-envoy-",
    "x-gateway-",
    "x-kv-cache-",
    "x-llm-d-",
    "x-prefiller-",
    "x-rackwright-",
    "x-slo-",
    "x-vllm-",
)
RATE_LIMIT, BODY_LIMIT = "envoy.filters.http.local_ratelimit", "envoy.filters.http.buffer"
SCRIPT = "envoy.filters.http.lua"
SHORTEST_FILL_S = 0.05  # Envoy's least interval between two fills of a bucket
ALWAYS = {"default_value": {"numerator": 100, "denominator": "HUNDRED"}}


def filters(gateway: Gateway, counting: Sequence[Filter] = (), reading: Sequence[Filter] = ()) -> list[Filter]:
    """Strip, limit the rate (each tenant's route says to what), count tokens where that is asked, limit the body, send.

    The limit of a body is that of an answer that is held to be read, too. `reading` are filters that read a whole body.
    """
    return [
        _strip(),
        typed(RATE_LIMIT, "http.local_ratelimit.v3.LocalRateLimit", stat_prefix="none"),
        *counting,
        typed(BODY_LIMIT, "http.buffer.v3.Buffer", max_request_bytes=gateway.request_limit_mib * 2**20),
        *reading,
        router(),
    ]


def router() -> Filter:
    """The last one: to the cluster that the route names."""
    return typed("envoy.filters.http.router", "http.router.v3.Router", suppress_envoy_headers=True)


def rate_limit(name: str, requests_per_minute: int) -> dict[str, Any]:
    """A route's limit: what is over it is refused with 429, and told when the next one is free."""
    wait = {"header": {"key": "retry-after", "value": str(math.ceil(60 / requests_per_minute))}}
    limit = {
        "stat_prefix": name,
        "token_bucket": bucket(requests_per_minute),
        "filter_enabled": ALWAYS,
        "filter_enforced": ALWAYS,
        "response_headers_to_add": [wait],
    }
    return {RATE_LIMIT: kind("http.local_ratelimit.v3.LocalRateLimit") | limit}


def no_body() -> dict[str, Any]:
    """A route that answers without waiting for a body."""
    off = {"disabled": True}
    return {BODY_LIMIT: kind("http.buffer.v3.BufferPerRoute") | off, SCRIPT: kind("http.lua.v3.LuaPerRoute") | off}


def share(limit: int, gateway: Gateway) -> int:
    """One proxy's part of a limit that holds over all of them."""
    return math.ceil(limit / gateway.replicas)


def bucket(requests_per_minute: int) -> dict[str, Any]:
    """Tokens for a minute at once, then one after the other at that rate."""
    at_a_time = math.ceil(requests_per_minute * SHORTEST_FILL_S / 60)
    return {
        "max_tokens": requests_per_minute,
        "tokens_per_fill": at_a_time,
        "fill_interval": f"{60 * at_a_time / requests_per_minute:.3f}s",
    }


def typed(name: str, short: str, **fields: Any) -> dict[str, Any]:
    """A filter's configuration, with the type that Envoy wants beside it."""
    return {"name": name, "typed_config": kind(short) | fields}


def kind(short: str, *, family: str = "filters") -> dict[str, Any]:
    """The type of an extension's configuration."""
    return {"@type": f"type.googleapis.com/envoy.extensions.{family}.{short}"}


def _strip() -> Filter:
    matches = [{"remove_on_match": {"key_matcher": {"prefix": prefix, "ignore_case": True}}} for prefix in STEERING]
    return typed(
        "envoy.filters.http.header_mutation",
        "http.header_mutation.v3.HeaderMutation",
        mutations={"request_mutations": matches},
    )
