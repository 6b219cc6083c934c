"""Asking a picker which replica of a model a request goes to, and what is done when none answers.

A picker is asked with the whole request, may keep it waiting, and answers with an address in a header that the cluster
of picked replicas then obeys. It sees the answer pass, which is how it counts what every replica has in hand; so one
that is killed cuts the streams that run. Where none can be asked, or where what it named cannot be reached, the outer
part of the proxy sends the request once more, and a second attempt goes to whichever replica is least busy.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from components.gateway.clusters import IDLE_S, by_name, options, thresholds
from components.gateway.filters import kind, typed
from rackwright.site.gateway import Gateway

PICK, SHORT = "envoy.filters.http.ext_proc", "http.ext_proc.v3"
DESTINATION = "x-gateway-destination-endpoint"
ATTEMPT, AGAIN = "x-envoy-attempt-count", "x-rackwright-again"
RETRY_AFTER_S = 2


def asking(gateway: Gateway) -> dict[str, Any]:
    """The filter, which only routes of models with a picker turn on."""
    return typed(PICK, f"{SHORT}.ExternalProcessor", **_asked("none", gateway)) | {"disabled": True}


def asked(model: str, gateway: Gateway) -> dict[str, Any]:
    """A route's part: whom to ask."""
    overrides = {"grpc_service": _asked(model, gateway)["grpc_service"]}
    return {PICK: kind(f"{SHORT}.ExtProcPerRoute") | {"overrides": overrides}}


def first_attempt() -> dict[str, Any]:
    """What a route matches that asks a picker; others of the model take what comes again."""
    return {"name": ATTEMPT, "string_match": {"exact": "1"}}


def once_more() -> dict[str, Any]:
    """How the outer part tries again: only what nothing was begun of.

    That is what is marked, and what the door of a divided model's replica says when it cannot reach the engine behind
    it, or the replica that was to compute the prompt. Engines themselves say neither of the two.
    """
    marked = [{"name": AGAIN, "present_match": True}]
    return {
        "retry_on": "retriable-headers,retriable-status-codes",
        "retriable_headers": marked,
        "retriable_status_codes": [502, 503],
        "num_retries": 1,
    }


def replies_of_models() -> dict[str, Any]:
    """What is said when no replica has a request: that it may be sent again, or that too many wait."""
    marked = [{"header": {"key": AGAIN, "value": "true"}}]
    away = {
        "filter": _status(500),  # of its own the proxy answers so where a picker could not be asked, and nowhere else
        "status_code": 503,
        "headers_to_add": marked,
        "body": {"inline_string": "no replica could be chosen"},
    }
    unreachable = {
        "filter": {"response_flag_filter": {"flags": ["UF"]}},
        "headers_to_add": marked,
        "body": {"inline_string": "the replica cannot be reached"},
    }
    waiting = {
        "filter": _status(429),
        "headers_to_add": [{"header": {"key": "retry-after", "value": str(RETRY_AFTER_S)}}],
        "body": {"inline_string": "too many requests wait for this model"},
    }
    error = {"message": "%LOCAL_REPLY_BODY%", "type": "router", "code": "%RESPONSE_CODE%"}
    return {"mappers": [away, unreachable, waiting], "body_format": {"json_format": {"error": error}}}


def clusters_of_pickers(pickers: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """For each model with pickers: they, and whatever replica they name."""
    asked_of = [picker_cluster(model, addresses) for model, addresses in pickers.items()]
    return [*asked_of, *(picked_cluster(model) for model in pickers)]


def picker_cluster(model: str, pickers: Sequence[str]) -> dict[str, Any]:
    """A model's pickers: the first as long as it lives, since it knows what it chose before."""
    found = [
        {"priority": place, "lb_endpoints": [{"endpoint": {"address": _address(each)}}]}
        for place, each in enumerate(pickers)
    ]
    return {
        "name": picker_name(model),
        "cluster_type": by_name(),
        "connect_timeout": "1s",
        "common_lb_config": {"healthy_panic_threshold": {"value": 0}},
        "ignore_health_on_host_removal": True,
        "load_assignment": {"cluster_name": picker_name(model), "endpoints": found},
        "circuit_breakers": thresholds(),
        "health_checks": [
            {
                "timeout": "1s",
                "interval": "1s",
                "no_traffic_interval": "1s",
                "unhealthy_threshold": 1,
                "healthy_threshold": 1,
                "tcp_health_check": {},
            }
        ],
        "typed_extension_protocol_options": options({"http2_protocol_options": {}}),
    }


def picked_cluster(model: str) -> dict[str, Any]:
    """Whatever replica the picker named."""
    return {
        "name": picked_name(model),
        "type": "ORIGINAL_DST",
        "lb_policy": "CLUSTER_PROVIDED",
        "original_dst_lb_config": {"use_http_header": True, "http_header_name": DESTINATION},
        "connect_timeout": "2s",
        "circuit_breakers": thresholds(),
        "typed_extension_protocol_options": options(
            {"http_protocol_options": {}}, common_http_protocol_options={"idle_timeout": f"{IDLE_S}s"}
        ),
    }


def picker_name(model: str) -> str:
    """The name of a model's pickers' cluster."""
    return f"picker-{model}"


def picked_name(model: str) -> str:
    """The name of the cluster of replicas that a picker named."""
    return f"picked-{model}"


def _asked(model: str, gateway: Gateway) -> dict[str, Any]:
    return {
        "grpc_service": {
            "envoy_grpc": {"cluster_name": picker_name(model)},
            "timeout": f"{gateway.request_timeout_s}s",
        },
        "failure_mode_allow": False,  # under full duplex a request's body would be lost
        "message_timeout": f"{gateway.request_timeout_s}s",  # a request may wait; how long is the router's affair
        "processing_mode": {
            "request_header_mode": "SEND",
            "request_body_mode": "FULL_DUPLEX_STREAMED",
            "request_trailer_mode": "SEND",
            # By these the picker knows what is in hand where: without them it forgets a request once it is sent.
            "response_header_mode": "SEND",
            "response_body_mode": "FULL_DUPLEX_STREAMED",
            "response_trailer_mode": "SEND",
        },
    }


def _status(code: int) -> dict[str, Any]:
    return {"status_code_filter": {"comparison": {"value": {"default_value": code, "runtime_key": "none"}}}}


def _address(place: str) -> dict[str, Any]:
    host, port = place.rsplit(":", maxsplit=1)
    return {"socket_address": {"address": host, "port_value": int(port)}}
