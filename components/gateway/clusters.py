"""Where requests go: to their tenant's bounds first, and from there to a model."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from components.gateway.filters import share
from components.gateway.place import Place
from components.gateway.tokens import SERVICE
from rackwright.site.gateway import Gateway
from rackwright.site.tenants import Tenant

Cluster = dict[str, Any]
MODELS = "models"  # the listener inside the proxy that a tenant's requests go on to
NO_LIMIT = 1_000_000  # Envoy's own of 1,024 would be felt by long generations; tenants' limits bound the sum
IDLE_S = 60  # shorter than the engine keeps an idle connection
DNS = "envoy.extensions.clusters.dns.v3.DnsCluster"
HTTP_OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"


def tenant_cluster(tenant: Tenant, gateway: Gateway) -> Cluster:
    """A tenant's requests in flight, counted and bounded; its statistics are the tenant's."""
    limit = share(tenant.limits.concurrent_requests, gateway)
    inside = {"envoy_internal_address": {"server_listener_name": MODELS, "endpoint_id": tenant.name}}
    return {
        "name": cluster_of(tenant),
        "connect_timeout": "1s",
        "load_assignment": _endpoints(cluster_of(tenant), inside),
        "circuit_breakers": thresholds(max_requests=limit),
        "typed_extension_protocol_options": options({"http2_protocol_options": {}}),
    }


def model_cluster(name: str, upstream: str, *, behind_doors: bool = False) -> Cluster:
    """A model's engines: every address behind its name, the least busy first, dead ones left out."""
    host, port = upstream.rsplit(":", maxsplit=1)
    # A door says by itself that it is well; what it asks its engine for says whether that is.
    asked = "/v1/models" if behind_doors else "/health"
    address = {"socket_address": {"address": host, "port_value": int(port)}}
    return {
        "name": model_name(name),
        "cluster_type": by_name(),
        "connect_timeout": "2s",
        "lb_policy": "LEAST_REQUEST",
        "common_lb_config": {"healthy_panic_threshold": {"value": 0}},  # none alive: say so at once
        # Else an engine that has left the name, but drains and still says that it is well, would be sent more.
        "ignore_health_on_host_removal": True,
        "load_assignment": _endpoints(model_name(name), address),
        "circuit_breakers": thresholds(max_requests=NO_LIMIT),
        "health_checks": [
            {
                "timeout": "2s",
                "interval": "2s",
                "no_traffic_interval": "5s",
                "unhealthy_threshold": 2,
                "healthy_threshold": 1,
                "http_health_check": {"path": asked},
            }
        ],
        "typed_extension_protocol_options": options(
            {"http_protocol_options": {}}, common_http_protocol_options={"idle_timeout": f"{IDLE_S}s"}
        ),
    }


def admin_cluster(place: Place) -> Cluster:
    """The proxy's own statistics."""
    address = {"socket_address": {"address": "127.0.0.1", "port_value": place.admin_port}}
    return {"name": "admin", "connect_timeout": "1s", "load_assignment": _endpoints("admin", address)}


def service_cluster(name: str, address: str) -> Cluster:
    """A service that is asked by gRPC."""
    host, port = address.rsplit(":", maxsplit=1)
    return {
        "name": name,
        "cluster_type": by_name(),
        "connect_timeout": "1s",
        "load_assignment": _endpoints(name, {"socket_address": {"address": host, "port_value": int(port)}}),
        "typed_extension_protocol_options": options({"http2_protocol_options": {}}),
    }


def clusters(
    gateway: Gateway,
    tenants: Sequence[Tenant],
    upstreams: Mapping[str, str],
    place: Place,
    counts: str | None = None,
    divided: Collection[str] = (),
) -> list[Cluster]:
    """All of them; `counts` is where tokens are counted, `divided` are models whose engines have doors before them."""
    bounds = [tenant_cluster(tenant, gateway) for tenant in tenants]
    models = [model_cluster(name, where, behind_doors=name in divided) for name, where in upstreams.items()]
    services = [service_cluster(SERVICE, counts)] if counts else []
    return [*bounds, *models, *services, admin_cluster(place)]


def cluster_of(tenant: Tenant) -> str:
    """The name of a tenant's cluster, in routes and statistics."""
    return f"tenant-{tenant.name}"


def model_name(model: str) -> str:
    """The name of a model's cluster."""
    return f"model-{model}"


def by_name() -> dict[str, Any]:
    """Every address behind a name, asked for again and again."""
    kind = {"@type": f"type.googleapis.com/{DNS}", "dns_refresh_rate": "2s", "dns_lookup_family": "V4_ONLY"}
    return {"name": "envoy.cluster.dns", "typed_config": kind}


def _endpoints(cluster: str, address: dict[str, Any]) -> dict[str, Any]:
    return {"cluster_name": cluster, "endpoints": [{"lb_endpoints": [{"endpoint": {"address": address}}]}]}


def thresholds(*, max_requests: int = NO_LIMIT) -> dict[str, Any]:
    """Bounds of a cluster: none but on requests in flight."""
    wide = {"max_connections": NO_LIMIT, "max_pending_requests": NO_LIMIT, "max_retries": NO_LIMIT}
    return {"thresholds": [{"priority": "DEFAULT", "max_requests": max_requests, **wide}]}


def options(explicit: dict[str, Any], **common: Any) -> dict[str, Any]:
    """How the proxy speaks to a cluster."""
    return {HTTP_OPTIONS: {"@type": f"type.googleapis.com/{HTTP_OPTIONS}", "explicit_http_config": explicit, **common}}
