"""Sessions that go on to another door: so many percent of them, of the models that both doors serve.

Whether a session goes is reckoned from what it is known by, not drawn: so it stays on one side, and where the share
grows, those that went before go on going. The other door checks the tenant's key for itself, so it is sent along;
what steers the own side is not believed there, as no client's is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from components.base.network import tcp
from components.gateway.clusters import options, thresholds
from components.gateway.place import Place

BEYOND = "beyond"  # the other door's cluster
SESSION_HEADER = "x-session-id"  # what a client may name its session by; else all of one address are one
UPSTREAM = "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext"


@dataclass(frozen=True)
class Shift:
    """The other door (host:port), the name that its certificate bears, and who goes there."""

    door: str
    host: str
    percent: int
    models: tuple[str, ...]


def shifted(routes: Sequence[dict[str, Any]], shift: Shift | None) -> list[dict[str, Any]]:
    """Tenants' routes; before each its share that goes on, where any does."""
    if shift is None or not shift.percent:
        return list(routes)
    found: list[dict[str, Any]] = []
    for route in routes:
        found += [_shared(route, shift), route] if "route" in route else [route]
    return found


def beyond(shift: Shift | None, place: Place) -> list[dict[str, Any]]:
    """The other door's cluster, where anybody goes there."""
    if shift is None or not shift.percent:
        return []
    host, port = shift.door.rsplit(":", maxsplit=1)
    address = {"socket_address": {"address": host, "port_value": int(port)}}
    endpoints = {"cluster_name": BEYOND, "endpoints": [{"lb_endpoints": [{"endpoint": {"address": address}}]}]}
    name = {"san_type": "DNS", "matcher": {"exact": shift.host}}
    trusted = {"trusted_ca": {"filename": f"{place.certificate}/ca.crt"}, "match_typed_subject_alt_names": [name]}
    context = {
        "@type": f"type.googleapis.com/{UPSTREAM}",
        "sni": shift.host,
        "common_tls_context": {"alpn_protocols": ["h2"], "validation_context": trusted},
    }
    return [
        {
            "name": BEYOND,
            "connect_timeout": "2s",
            "load_assignment": endpoints,
            "circuit_breakers": thresholds(),
            "transport_socket": {"name": "envoy.transport_sockets.tls", "typed_config": context},
            "typed_extension_protocol_options": options({"http2_protocol_options": {}}),
        }
    ]


def way_out(shift: Shift | None) -> list[dict[str, Any]]:
    """The way to the other door, where anybody goes there."""
    if shift is None or not shift.percent:
        return []
    host, port = shift.door.rsplit(":", maxsplit=1)
    return [{"to": [{"ipBlock": {"cidr": f"{host}/32"}}], "ports": tcp(int(port))}]


def _shared(route: dict[str, Any], shift: Shift) -> dict[str, Any]:
    """A tenant's route for models that both doors serve; the key stays on what goes on, and nowhere else."""
    several = f"/({'|'.join(shift.models)})"
    paths = f"({several})?" if len(shift.models) == 1 else several  # one model is called without its name, too
    way = {key: value for key, value in route["route"].items() if key != "cluster"}
    weighted = {
        # The other door comes first: a session whose number is below the share goes there, and below any larger one.
        "clusters": [
            {"name": BEYOND, "weight": shift.percent},
            {
                "name": route["route"]["cluster"],
                "weight": 100 - shift.percent,
                "request_headers_to_remove": route["request_headers_to_remove"],
            },
        ],
        "use_hash_policy": True,
    }
    known_by = [
        {"header": {"header_name": SESSION_HEADER}, "terminal": True},
        {"connection_properties": {"source_ip": True}},
    ]
    rest = {key: value for key, value in route.items() if key != "request_headers_to_remove"}
    return rest | {
        "match": {"safe_regex": {"regex": f"{paths}/v1/.*"}, "headers": route["match"]["headers"]},
        "route": way | {"weighted_clusters": weighted, "hash_policy": known_by},
    }
