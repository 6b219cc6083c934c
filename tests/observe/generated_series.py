"""What the exporters of a small rack show, minute by minute, for behaviour that is stated: series that are made up."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rackwright.site.kserve_names import pool

Value = float | Callable[[int], float]
EDGES = (0.025, 0.05, 0.25, 0.5, 1.0, 1.25, 2.5, 10.0)
PODS = {"llama-70b": ("llama-70b-7d9-a",), "qwen3-32b": ("qwen3-32b-5c8-a", "qwen3-32b-5c8-b")}
GPUS = {"llama-70b-7d9-a": (0, 1, 2, 3), "qwen3-32b-5c8-a": (4, 5), "qwen3-32b-5c8-b": (6, 7)}
THROUGH_KSERVE = "qwen3-32b"  # whose pool KServe would name
HOST = "10.30.0.11:9100"
EXPORTER = 'endpoint="gpu-metrics",job="nvidia-dcgm-exporter",container="nvidia-dcgm-exporter"'
GIB = 2.0**30


def seen(_series: str, _minute: int) -> bool:
    """Nothing is missing."""
    return False


@dataclass(frozen=True)
class Behaviour:
    """How the rack does; a figure may be a function of the minute. Times in s, shares from 0 to 1."""

    minutes: int = 40
    gpu: Value = 0.5
    queue: Value = 0
    running: Value = 6
    kv: Value = 0.4
    ttft: Value = 0.4
    tpot: Value = 0.02
    hit: Value = 0.7
    calls: Value = 2.0
    prompt: float = 4000
    answer: float = 400
    search: Value = 0.008
    memory: Value = 20 * GIB
    used: Value = 0.3
    drives: Value = 2e8
    busy: Value = 0.2  # of the time a drive has requests under way
    reads: Value = 1e-4  # seconds of a read
    writes: Value = 3e-5
    connections: Value = 60
    held: Value = 0  # calls that wait in the router
    waits: Value = 0.002  # seconds that a call waits there
    uncounted: Value = 0  # calls a second
    lost: Value = 0  # caches a second that could not be read from another replica
    renamed: bool = False  # the scrape did not keep the exporter's labels
    gone: Callable[[str, int], bool] = seen


def at(value: Value, minute: int) -> float:
    return value(minute) if callable(value) else value


def total(rate: Callable[[int], float], minutes: int) -> list[float]:
    """A counter that grows by so much a second."""
    values, seen = [], 0.0
    for minute in range(minutes):
        seen += rate(minute) * 60
        values.append(seen)
    return values


def rack(how: Behaviour) -> dict[str, list[float | None]]:
    """Every series with one value a minute, None where it was not scraped."""
    found = {}
    for parts in (engines(how), routers(how), doors(how), gpus(how), stores(how), machines(how)):
        for series, values in parts:
            found[series] = [None if how.gone(series, minute) else value for minute, value in enumerate(values)]
    return found


def gauge(value: Value, how: Behaviour) -> list[float]:
    return [at(value, minute) for minute in range(how.minutes)]


def histogram(name: str, labels: str, times: Value, rate: Value, how: Behaviour) -> Iterator[tuple[str, list[float]]]:
    for edge in (*EDGES, float("inf")):

        def below(minute: int, edge: float = edge) -> float:
            return at(rate, minute) if at(times, minute) <= edge else 0.0

        spelled = "+Inf" if edge == float("inf") else f"{edge:g}"
        yield f'{name}_bucket{{{labels},le="{spelled}"}}', total(below, how.minutes)
    yield f"{name}_count{{{labels}}}", total(lambda minute: at(rate, minute), how.minutes)
    yield f"{name}_sum{{{labels}}}", total(lambda minute: at(rate, minute) * at(times, minute), how.minutes)


def engines(how: Behaviour) -> Iterator[tuple[str, list[float]]]:
    for model, pods in PODS.items():
        for pod in pods:
            labels = f'model_name="{model}",engine="0",namespace="models",pod="{pod}",job="models/{model}"'

            def rate(factor: float) -> list[float]:
                return total(lambda minute: at(how.calls, minute) * factor, how.minutes)

            yield f"vllm:num_requests_waiting{{{labels}}}", gauge(how.queue, how)
            yield f"vllm:num_requests_running{{{labels}}}", gauge(how.running, how)
            yield f"vllm:kv_cache_usage_perc{{{labels}}}", gauge(how.kv, how)
            yield f"vllm:num_preemptions_total{{{labels}}}", rate(0.0)
            yield f'vllm:request_success_total{{{labels},finished_reason="stop"}}', rate(1.0)
            yield f"vllm:nixl_bytes_transferred_sum{{{labels}}}", rate(1e9)
            yield (
                f"vllm:nixl_num_failed_transfers_total{{{labels}}}",
                total(lambda minute: at(how.lost, minute), how.minutes),
            )
            for kind, tokens in (("prompt", how.prompt), ("generation", how.answer)):
                yield f"vllm:{kind}_tokens_total{{{labels}}}", rate(tokens)
                yield f"vllm:request_{kind}_tokens_sum{{{labels}}}", rate(tokens)
                yield f"vllm:request_{kind}_tokens_count{{{labels}}}", rate(1.0)
            for cache, share in (("", 1.0), ("external_", 0.1)):
                hits = total(lambda m, s=share: at(how.calls, m) * how.prompt * at(how.hit, m) * s, how.minutes)
                yield f"vllm:{cache}prefix_cache_queries_total{{{labels}}}", rate(how.prompt)
                yield f"vllm:{cache}prefix_cache_hits_total{{{labels}}}", hits
            for name, times in (
                ("time_to_first_token", how.ttft),
                ("request_time_per_output_token", how.tpot),
                ("inter_token_latency", how.tpot),
                ("e2e_request_latency", 4.0),
                ("request_queue_time", 0.02),
            ):
                yield from histogram(f"vllm:{name}_seconds", labels, times, how.calls, how)


def routers(how: Behaviour) -> Iterator[tuple[str, list[float]]]:
    """As the pinned router shows them: a pool a model, a series a tenant and class."""
    for model, replicas in PODS.items():
        pod = f'namespace="router",pod="{model}-0",job="router/router"'
        yield f'llm_d_epp_ready_endpoints{{name="{model}",{pod}}}', gauge(len(replicas), how)
        known = pool(model) if model == THROUGH_KSERVE else model
        call = f'fairness_id="chat",priority="100",inference_pool="{known}",model_name="{model}",{pod}'
        yield f"llm_d_epp_flow_control_queue_size{{{call}}}", gauge(how.held, how)
        name, outcome = "llm_d_epp_flow_control_request_queue_duration_seconds", 'outcome="Dispatched"'
        yield from histogram(name, f"{call},{outcome}", how.waits, how.calls, how)


def doors(how: Behaviour) -> Iterator[tuple[str, list[float]]]:
    labels = 'namespace="gateway",pod="gateway-6f-x",job="gateway/gateway"'
    yield f"envoy_server_live{{{labels}}}", gauge(1, how)
    uncounted = total(lambda minute: at(how.uncounted, minute), how.minutes)
    yield f'envoy_cluster_ratelimit_error{{envoy_cluster_name="picker-llama-70b",{labels}}}', uncounted


def gpus(how: Behaviour) -> Iterator[tuple[str, list[float]]]:
    users = {gpu: pod for pod, numbers in GPUS.items() for gpu in numbers}
    for gpu, pod in users.items():
        chip = f'Hostname="gpu-01",gpu="{gpu}",UUID="GPU-{gpu}",device="nvidia{gpu}",modelName="NVIDIA H100"'
        kept = f'namespace="models",pod="{pod}"'
        own = f'exported_namespace="models",exported_pod="{pod}",namespace="gpu-operator",pod="nvidia-dcgm-exporter-x"'
        labels = f"{chip},{EXPORTER},{own if how.renamed else kept}"
        yield f"DCGM_FI_DEV_GPU_UTIL{{{labels}}}", [100 * value for value in gauge(how.gpu, how)]
        for name in ("GR_ENGINE_ACTIVE", "SM_ACTIVE", "PIPE_TENSOR_ACTIVE", "DRAM_ACTIVE"):
            yield f"DCGM_FI_PROF_{name}{{{labels}}}", [0.6 * value for value in gauge(how.gpu, how)]


def stores(how: Behaviour) -> Iterator[tuple[str, list[float]]]:
    labels = 'namespace="qdrant",pod="qdrant-0",job="qdrant"'
    yield f"collections_total{{{labels}}}", gauge(2, how)
    yield f"memory_resident_bytes{{{labels}}}", gauge(how.memory, how)
    yield f'collection_vectors{{{labels},collection="papers"}}', gauge(1e6, how)
    rest = f'{labels},method="POST",endpoint="/collections/{{name}}/points/query",status="200"'
    yield from histogram("rest_responses_duration_seconds", rest, how.search, 3.0, how)
    remote = f'{labels},endpoint="/qdrant.Points/Query",status="0"'
    yield from histogram("grpc_responses_duration_seconds", remote, how.search, 1.0, how)
    labels = 'namespace="postgres",pod="postgres-1",job="postgres/postgres"'
    yield f"cnpg_collector_up{{{labels}}}", gauge(1, how)
    yield f'cnpg_backends_total{{{labels},datname="langgraph",state="idle"}}', gauge(how.connections, how)
    yield f'cnpg_pg_settings_setting{{{labels},name="max_connections"}}', gauge(400, how)
    for name, rate in (("blks_hit", 900.0), ("blks_read", 100.0), ("xact_commit", 50.0)):
        yield f'cnpg_pg_stat_database_{name}{{{labels},datname="langgraph"}}', total(lambda _, r=rate: r, how.minutes)


def machines(how: Behaviour) -> Iterator[tuple[str, list[float]]]:
    labels = f'instance="{HOST}",job="node-exporter",device="nvme1n1"'
    for name, factor in (
        ("read_bytes", 0.75),
        ("written_bytes", 0.25),
        ("reads_completed", 1e-5),
        ("writes_completed", 1e-5),
    ):
        values = total(lambda minute, f=factor: at(how.drives, minute) * f, how.minutes)
        yield f"node_disk_{name}_total{{{labels}}}", values
    yield f"node_disk_io_time_seconds_total{{{labels}}}", total(lambda minute: at(how.busy, minute), how.minutes)
    for name, seconds in (("read", how.reads), ("write", how.writes)):
        values = total(lambda minute, s=seconds: at(how.drives, minute) * 1e-5 * at(s, minute), how.minutes)
        yield f"node_disk_{name}_time_seconds_total{{{labels}}}", values
    labels = 'namespace="postgres",persistentvolumeclaim="postgres-1",job="kubelet"'
    yield f"kubelet_volume_stats_capacity_bytes{{{labels}}}", gauge(1e12, how)
    yield f"kubelet_volume_stats_available_bytes{{{labels}}}", [1e12 * (1 - value) for value in gauge(how.used, how)]
