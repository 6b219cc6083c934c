"""Tokens of each tenant: read from the engine's answers, counted by a service for all proxies, and refused by its word.

Envoy's own buckets are asked before a request and know nothing of its answer; of its filters only the one that asks a
service can add once a stream is over (`apply_on_stream_done`: "only supported by the HTTP global rate filter", Envoy
1.40). So a tenant is refused for what it has used, never in the middle of an answer: the request that goes over the
limit is answered whole, as are those that run beside it.
"""

from typing import Any

from components.gateway.filters import Filter, kind, typed
from rackwright.site.tenants import Tenant

SERVICE, DOMAIN, KEY = "quotas", "tokens", "tenant"
ASKED_FOR_S = 0.5  # no answer in this time: let in, since a lost count must not be a lost platform
RATE_LIMIT, SHORT = "envoy.filters.http.ratelimit", "http.ratelimit.v3"
NAMESPACE = "rackwright.tokens"
PROMPT, ANSWER = "prompt", "answer"
LARGEST_EVENT = 10 << 20  # bytes, the most that Envoy takes; the last event of the Responses API holds the whole answer
# Where an answer says how many: chat and completions, Responses and Messages, a stream of Responses.
PLACES = (
    (PROMPT, ("usage", "prompt_tokens")),
    (ANSWER, ("usage", "completion_tokens")),
    (PROMPT, ("usage", "input_tokens")),
    (ANSWER, ("usage", "output_tokens")),
    (PROMPT, ("response", "usage", "input_tokens")),
    (ANSWER, ("response", "usage", "output_tokens")),
)


def counted(tenant: Tenant) -> bool:
    """True where a tenant's tokens are limited."""
    return tenant.limits.tokens_per_minute is not None


def counting() -> list[Filter]:
    """What a request passes where tokens are counted."""
    return [_begun(), _asking(), *_reading()]


def charged_to(tenant: Tenant) -> dict[str, Any]:
    """A route's part: before the request ask and add nothing; after it add what was used."""
    who = [{"generic_key": {"descriptor_key": KEY, "descriptor_value": tenant.name}}]
    before = {"actions": who, "hits_addend": {"number": 0}}
    after = [
        {
            "actions": who,
            "hits_addend": {"format": f"%DYNAMIC_METADATA({NAMESPACE}:{used})%"},
            "apply_on_stream_done": True,
        }
        for used in (PROMPT, ANSWER)
    ]
    return {RATE_LIMIT: kind(f"{SHORT}.RateLimitPerRoute") | {"rate_limits": [before, *after]}}


def _begun() -> Filter:
    """Nothing was used yet, so that an answer that says nothing of it is not reported as a fault."""
    start = {"metadata_namespace": NAMESPACE, "value": {PROMPT: 0, ANSWER: 0}, "allow_overwrite": True}
    return typed("envoy.filters.http.set_metadata", "http.set_metadata.v3.Config", metadata=[start])


def _asking() -> Filter:
    """Ask the service whether a tenant has tokens left, and tell it afterwards what was used."""
    service = {"grpc_service": {"envoy_grpc": {"cluster_name": SERVICE}}, "transport_api_version": "V3"}
    return typed(
        RATE_LIMIT,
        f"{SHORT}.RateLimit",
        domain=DOMAIN,
        timeout=f"{ASKED_FOR_S}s",
        failure_mode_deny=False,
        enable_retry_after_header=True,
        disable_x_envoy_ratelimited_header=True,
        rate_limit_service=service,
    )


def _reading() -> list[Filter]:
    """Read what was used, from answers as a whole and from the events of a stream: the last word counts."""
    rules = [_rule(key, path) for key, path in PLACES]
    parser = kind("json.v3.JsonContentParser", family="content_parsers") | {"rules": [{"rule": rule} for rule in rules]}
    return [
        typed(
            "envoy.filters.http.json_to_metadata",
            "http.json_to_metadata.v3.JsonToMetadata",
            response_rules={"rules": rules},
        ),
        typed(
            "envoy.filters.http.sse_to_metadata",
            "http.sse_to_metadata.v3.SseToMetadata",
            response_rules={
                "content_parser": {"name": "envoy.content_parsers.json", "typed_config": parser},
                "max_event_size": LARGEST_EVENT,
            },
        ),
    ]


def _rule(key: str, path: tuple[str, ...]) -> dict[str, Any]:
    present = {"metadata_namespace": NAMESPACE, "key": key, "type": "NUMBER"}
    return {"selectors": [{"key": step} for step in path], "on_present": present}
