"""The proxy's configuration: a pure function of the site's gateway, tenants and models.

A request passes two connection managers in one proxy. The outer one ends TLS, strips, authenticates and limits, and
sends to the tenant's cluster, whose circuit breaker counts its requests in flight; that cluster is a listener inside
the proxy, whose manager sends to the model. So limits are a tenant's over all models, and statistics are of both.
"""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from components.gateway.caches import reading
from components.gateway.clusters import MODELS, clusters
from components.gateway.filters import filters, router, typed
from components.gateway.picking import asking, clusters_of_pickers, replies_of_models
from components.gateway.place import Place
from components.gateway.replies import replies
from components.gateway.routes import model_routes, one_place_for_keys, tenant_routes
from components.gateway.shifting import Shift, beyond, shifted
from components.gateway.tokens import counting
from components.gateway.urgency import mutation
from rackwright.site.gateway import Gateway
from rackwright.site.tenants import Tenant

Configuration = dict[str, Any]
CONNECTIONS = 10_000
HEAP_SHARE = 0.8  # of the container's memory
LOG = "envoy.extensions.access_loggers.stream.v3.StdoutAccessLog"
TLS = "envoy.extensions.transport_sockets.tls.v3"
HEAP = "envoy.extensions.resource_monitors.fixed_heap.v3.FixedHeapConfig"
DOWNSTREAM = "envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig"
INTERNAL = "envoy.extensions.bootstrap.internal_listener.v3.InternalListener"


def envoy_configuration(
    gateway: Gateway,
    tenants: Sequence[Tenant],
    keys: Mapping[str, str],
    upstreams: Mapping[str, str],
    place: Place = Place(),  # noqa: B008 - frozen
    *,
    pickers: Mapping[str, Sequence[str]] = MappingProxyType({}),
    by_priority: Collection[str] = (),
    counts: str | None = None,
    divided: Collection[str] = (),
    shift: Shift | None = None,
) -> Configuration:
    """The whole bootstrap; `keys` are API keys by their names in the vault, `upstreams` are host:port by model.

    `pickers` are host:port of whom to ask where a request to a model goes, the first one first; `by_priority` are
    models whose engine is told the tenant's class. `counts` is the host:port at which tokens are counted.
    `divided` are models whose replicas hand caches to each other. `shift` says which sessions go on to another door.
    """
    models = model_routes(gateway, tuple(upstreams), picked=tuple(pickers), by_priority=by_priority)
    tenants_in = shifted(tenant_routes(gateway, tenants, keys, counting=counts is not None), shift)
    passed = filters(gateway, counting() if counts else (), [reading(upstreams, divided)] if divided else ())
    listeners = [_https(gateway, tenants_in, passed, place), _models(gateway, models), _metrics(place)]
    found = [*clusters(gateway, tenants, upstreams, place, counts, divided), *clusters_of_pickers(pickers)]
    found += beyond(shift, place)
    return {
        "node": {"id": "gateway", "cluster": "gateway"},
        "admin": {"address": _socket("127.0.0.1", place.admin_port)},
        "bootstrap_extensions": [_extension("envoy.bootstrap.internal_listener", INTERNAL)],
        "overload_manager": _overload(memory_mib(gateway)),
        "static_resources": {"listeners": listeners, "clusters": found},
    }


def certificate_configuration(place: Place = Place()) -> Configuration:  # noqa: B008 - frozen
    """Where the certificate lies, in a file of its own, so that a renewed one is taken without a restart."""
    files = {"certificate_chain": "tls.crt", "private_key": "tls.key"}
    certificate = {name: {"filename": f"{place.certificate}/{file}"} for name, file in files.items()}
    watched = certificate | {"watched_directory": {"path": place.certificate}}
    secret = {"@type": f"type.googleapis.com/{TLS}.Secret", "name": "certificate", "tls_certificate": watched}
    return {"resources": [secret]}


def memory_mib(gateway: Gateway) -> int:
    """Memory of one proxy, in MiB: some dozens of the largest bodies at once, beside its own."""
    return 512 + 32 * gateway.request_limit_mib


def _https(gateway: Gateway, routes: list[Any], passed: list[Any], place: Place) -> Configuration:
    manager = _manager(
        "https",
        routes,
        passed,
        early_header_mutation_extensions=[one_place_for_keys()],
        use_remote_address=True,
        access_log=[_access_log()],
        local_reply_config=replies(),
        request_headers_timeout="10s",
        stream_idle_timeout=f"{gateway.request_timeout_s}s",  # a long answer that is not streamed says nothing for long
        normalize_path=True,
        merge_slashes=True,
        path_with_escaped_slashes_action="REJECT_REQUEST",
        common_http_protocol_options={"idle_timeout": "3600s", "headers_with_underscores_action": "REJECT_REQUEST"},
        http2_protocol_options={
            "max_concurrent_streams": 256,
            "initial_stream_window_size": 65536,
            "initial_connection_window_size": 1048576,
        },
    )
    return {
        "name": "https",
        "address": _socket(place.address, place.https_port),
        "traffic_direction": "INBOUND",  # so that a drain takes this one and leaves the statistics
        "per_connection_buffer_limit_bytes": 32768,
        "filter_chains": [{"filters": [manager], "transport_socket": _tls(place)}],
    }


def _models(gateway: Gateway, routes: list[Any]) -> Configuration:
    manager = _manager(
        MODELS,
        routes,
        [mutation(), asking(gateway), router()],
        local_reply_config=replies_of_models(),
        skip_xff_append=True,
        preserve_external_request_id=True,
        stream_idle_timeout=f"{gateway.request_timeout_s}s",
        http2_protocol_options={"max_concurrent_streams": 10_000},
    )
    return {"name": MODELS, "internal_listener": {}, "filter_chains": [{"filters": [manager]}]}


def _metrics(place: Place) -> Configuration:
    routes = [{"match": {"path": path}, "route": {"cluster": "admin"}} for path in ("/ready", "/stats/prometheus")]
    manager = _manager("metrics", routes, [router()])
    return {
        "name": "metrics",
        "address": _socket(place.address, place.metrics_port),
        "filter_chains": [{"filters": [manager]}],
    }


def _manager(name: str, routes: list[Any], http_filters: list[Any], **rest: Any) -> Configuration:
    # Which attempt it is says the outer part to the inner one: the second asks no picker.
    host = {"name": name, "domains": ["*"], "routes": routes, "include_request_attempt_count": name == "https"}
    return typed(
        "envoy.filters.network.http_connection_manager",
        "network.http_connection_manager.v3.HttpConnectionManager",
        stat_prefix=name,
        route_config={"name": name, "virtual_hosts": [host]},
        http_filters=http_filters,
        **rest,
    )


def _tls(place: Place) -> Configuration:
    source = {"path": f"{place.configuration}/certificate.json"}
    certificate = {"name": "certificate", "sds_config": {"path_config_source": source, "resource_api_version": "V3"}}
    common = {
        "tls_params": {"tls_minimum_protocol_version": "TLSv1_2"},
        "alpn_protocols": ["h2", "http/1.1"],
        "tls_certificate_sds_secret_configs": [certificate],
    }
    return _extension("envoy.transport_sockets.tls", f"{TLS}.DownstreamTlsContext", common_tls_context=common)


def _access_log() -> Configuration:
    """Who asked for what and how it went; never a key, a query or a body."""
    fields = {
        "time": "%START_TIME%",
        "tenant": "%ROUTE_NAME%",
        "client": "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%",
        "method": "%REQ(:METHOD)%",
        "path": "%PATH(NQ:ORIG_OR_PATH)%",
        "status": "%RESPONSE_CODE%",
        "details": "%RESPONSE_CODE_DETAILS%",
        "flags": "%RESPONSE_FLAGS%",
        "bytes_in": "%BYTES_RECEIVED%",
        "bytes_out": "%BYTES_SENT%",
        "first_byte_ms": "%COMMON_DURATION(DS_RX_BEG:DS_TX_BEG:ms)%",
        "duration_ms": "%DURATION%",
        "request": "%REQ(X-REQUEST-ID)%",
    }
    return _extension("envoy.access_loggers.stdout", LOG, log_format={"json_format": fields})


def _overload(memory: int) -> Configuration:
    heap = _extension("envoy.resource_monitors.fixed_heap", HEAP, max_heap_size_bytes=int(memory * 2**20 * HEAP_SHARE))
    connections = _extension(
        "envoy.resource_monitors.global_downstream_max_connections",
        DOWNSTREAM,
        max_active_downstream_connections=CONNECTIONS,
    )
    full = [{"name": "envoy.resource_monitors.fixed_heap", "threshold": {"value": 0.95}}]
    actions = [{"name": "envoy.overload_actions.stop_accepting_requests", "triggers": full}]
    return {"refresh_interval": "0.25s", "resource_monitors": [heap, connections], "actions": actions}


def _extension(name: str, kind: str, **fields: Any) -> Configuration:
    return {"name": name, "typed_config": {"@type": f"type.googleapis.com/{kind}", **fields}}


def _socket(address: str, port: int) -> Configuration:
    return {"socket_address": {"address": address, "port_value": port}}
