"""The five metrics and what is needed to judge them, each defined once.

Names are those of the versions in `sources.py`. Everything else, rules, dashboards, triggers and the document, follows
from this list.
"""

from rackwright.observe.figure import LABELS, Figure, Group, Level, Unit
from rackwright.observe.sources import EXPORTERS_POD
from rackwright.site.kserve_names import pool

WINDOW = "5m"  # over which rates and percentiles are taken: 20 scrapes, so that one lost scrape is not seen
DAY = "1d"  # what is usual: a day, that ended an hour ago so that what happens now is not part of it
AGO = "offset 1h"
PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
DRIVES = 'device=~"nvme[0-9]+n[0-9]+|sd[a-z]+|vd[a-z]+"'
SEARCHES = 'endpoint=~".*/points/(search|query).*"'
REMOTE_SEARCHES = 'endpoint=~"/qdrant.Points/(Search|Query).*"'
STORES = 'pod=~"qdrant-.*"'


def owned(metric: str, factor: str = "") -> str:
    """A metric of GPUs by the pod that uses them, whether the scrape kept the exporter's labels or renamed them.

    Without `honorLabels` the user of a GPU is in exported_pod and pod is the exporter's own; with it pod is the user,
    and of an idle GPU again the exporter, which nobody serves with.
    """
    renamed = (
        f'label_replace(label_replace({metric}{{exported_pod!=""}}, "pod", "$1", "exported_pod", "(.+)"), '
        '"namespace", "$1", "exported_namespace", "(.+)")'
    )
    kept = f'label_replace({metric}{{exported_pod=""}}, "pod", "", "pod", "{EXPORTERS_POD}")'
    return f"max by ({', '.join(LABELS['gpu'])}) ({renamed} or {kept}){factor}"


def by_model(gpu_figure: str) -> str:
    """The mean over the GPUs of each model's pods, which the engine's own series name."""
    pods = "group by (namespace, pod, model_name) (vllm:num_requests_running)"
    return f"avg by (model_name) (rackwright:gpu:{gpu_figure} * on (namespace, pod) group_left (model_name) {pods})"


def quantile(share: float, metric: str, window: str = WINDOW, ago: str = "") -> str:
    """A percentile of one of the engine's histograms."""
    offset = f" {ago}" if ago else ""
    return (
        f"histogram_quantile({share:g}, sum by (model_name, le) (rate(vllm:{metric}_seconds_bucket[{window}]{offset})))"
    )


def rate(metric: str, by: str = "model_name", selector: str = "") -> str:
    """A counter a second."""
    braces = f"{{{selector}}}" if selector else ""
    return f"sum by ({by}) (rate({metric}{braces}[{WINDOW}]))"


def by_pool(metric: str) -> str:
    """A metric of the router's by model: each has a pool, which bears its name; KServe puts an ending to it."""
    return f'label_replace({metric}, "model_name", "$1", "inference_pool", "(.+?)(?:{pool("")})?")'


def share_of(hits: str, queries: str, window: str = WINDOW, ago: str = "") -> str:
    """Hits by queries, nothing where nobody asked."""
    offset = f" {ago}" if ago else ""
    top, bottom = (f"sum by (model_name) (rate(vllm:{name}_total[{window}]{offset}))" for name in (hits, queries))
    return f"{top} / ({bottom} > 0)"


def mean_of(metric: str) -> str:
    """The mean of one of the engine's histograms."""
    return f"{rate(f'vllm:{metric}_sum')} / ({rate(f'vllm:{metric}_count')} > 0)"


def by_count(total: str, count: str) -> str:
    """A drive's total of something by the number of times that it happened."""
    top, bottom = (rate(metric, "instance, device", DRIVES) for metric in (total, count))
    return f"{top} / ({bottom} > 0)"


GPU = (
    Figure(
        "utilisation",
        "GPU utilisation",
        "gpu",
        "ratio",
        "GPU utilisation",
        f"{owned('DCGM_FI_DEV_GPU_UTIL', ' / 100')} or {owned('DCGM_FI_PROF_GR_ENGINE_ACTIVE')}",
        "gpus",
    ),
    Figure("sm", "GPU utilisation", "gpu", "ratio", "SM activity", owned("DCGM_FI_PROF_SM_ACTIVE"), "gpus"),
    Figure(
        "tensor", "GPU utilisation", "gpu", "ratio", "Tensor activity", owned("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"), "gpus"
    ),
    Figure(
        "memory", "GPU utilisation", "gpu", "ratio", "Memory bandwidth used", owned("DCGM_FI_PROF_DRAM_ACTIVE"), "gpus"
    ),
    *(
        Figure(f"gpu_{name}", "GPU utilisation", "model", "ratio", f"{title} of a model's GPUs", by_model(name), "gpus")
        for name, title in (("utilisation", "GPU utilisation"), ("sm", "SM activity"), ("tensor", "Tensor activity"))
    ),
)


def several(group: Group, level: Level, source: str, *rows: tuple[str, Unit, str, str]) -> tuple[Figure, ...]:
    """Figures that have their group, level and source in common: name, unit, title, expression."""
    return tuple(Figure(name, group, level, unit, title, expression, source) for name, unit, title, expression in rows)


QUEUE = several(
    "Queue depth", "model", "engine",
    ("queue", "1", "Calls that wait",
     f"sum by (model_name) (vllm:num_requests_waiting or {by_pool('llm_d_epp_flow_control_queue_size')})"),
    ("running", "1", "Calls at work", "sum by (model_name) (vllm:num_requests_running)"),
    ("kv_usage", "ratio", "KV cache in use", "max by (model_name) (vllm:kv_cache_usage_perc)"),
    ("preemptions", "1/s", "Calls put back", rate("vllm:num_preemptions_total")),
)  # fmt: skip
TIMES = {  # the engine's histograms, in seconds
    "ttft": ("time_to_first_token", "Time to the first token"),
    "tpot": ("request_time_per_output_token", "Time of a further token, mean of a call"),
    "itl": ("inter_token_latency", "Time between two tokens"),
    "e2e": ("e2e_request_latency", "Whole call"),
    "queue_time": ("request_queue_time", "Waiting in the queue"),
}
LATENCY = (
    *(
        Figure(
            f"{name}_{at}", "Latency", "model", "s", f"{title}, {at.upper()}", quantile(share, histogram), "engine"
        )
        for name, (histogram, title) in TIMES.items()
        for at, share in PERCENTILES.items()
    ),
    Figure(
        "ttft_usual", "Latency", "model", "s", "Time to the first token, P95 of the day before",
        quantile(0.95, "time_to_first_token", DAY, AGO), "engine", slow=True,
    ),
    Figure(
        "held_p95", "Latency", "model", "s", "Waiting in the router, before the engine, P95",
        "histogram_quantile(0.95, sum by (model_name, le) ("
        f"{by_pool(f'rate(llm_d_epp_flow_control_request_queue_duration_seconds_bucket[{WINDOW}])')}))", "router",
    ),
    Figure(
        "search_p95", "Latency", "store", "s", "Vector search, P95",
        "histogram_quantile(0.95, sum by (pod, le) ("
        f"rate(rest_responses_duration_seconds_bucket{{{SEARCHES}}}[{WINDOW}])"
        f" or rate(grpc_responses_duration_seconds_bucket{{{REMOTE_SEARCHES}}}[{WINDOW}])))",
        "vectors",
    ),
)  # fmt: skip
HITS = (
    Figure(
        "hit_rate", "KV-cache hit rate", "model", "ratio", "Prompt tokens found in the cache",
        share_of("prefix_cache_hits", "prefix_cache_queries"), "engine",
    ),
    Figure(
        "hit_rate_usual", "KV-cache hit rate", "model", "ratio", "The same, the day before",
        share_of("prefix_cache_hits", "prefix_cache_queries", DAY, AGO), "engine", slow=True,
    ),
    Figure(
        "external_hit_rate", "KV-cache hit rate", "model", "ratio", "Prompt tokens found in other replicas' caches",
        share_of("external_prefix_cache_hits", "external_prefix_cache_queries"), "engine",
    ),
)  # fmt: skip
STORAGE = (
    *several(
        "Storage I/O", "disk", "machines",
        ("read", "B/s", "Read", rate("node_disk_read_bytes_total", "instance, device", DRIVES)),
        ("written", "B/s", "Written", rate("node_disk_written_bytes_total", "instance, device", DRIVES)),
        ("busy", "ratio", "Time with I/O under way",
         rate("node_disk_io_time_seconds_total", "instance, device", DRIVES)),
        ("read_time", "s", "Time of a read",
         by_count("node_disk_read_time_seconds_total", "node_disk_reads_completed_total")),
        ("write_time", "s", "Time of a write",
         by_count("node_disk_write_time_seconds_total", "node_disk_writes_completed_total")),
    ),
    Figure(
        "throughput", "Storage I/O", "host", "B/s", "Read and written by a host's drives",
        f"{rate('node_disk_read_bytes_total', 'instance', DRIVES)} + "
        f"{rate('node_disk_written_bytes_total', 'instance', DRIVES)}", "machines",
    ),
    Figure(
        "used", "Storage I/O", "volume", "ratio", "Share of a volume in use",
        f"1 - max by ({', '.join(LABELS['volume'])}) (kubelet_volume_stats_available_bytes) / "
        f"max by ({', '.join(LABELS['volume'])}) (kubelet_volume_stats_capacity_bytes)", "volumes",
    ),
    Figure(
        "left_soon", "Storage I/O", "volume", "B", "Room in a volume in three days, as it goes now",
        f"min by ({', '.join(LABELS['volume'])}) "
        "(predict_linear(kubelet_volume_stats_available_bytes[6h], 3 * 86400))", "volumes", slow=True,
    ),
)  # fmt: skip
LOAD = (
    *several(
        "Load", "model", "engine",
        ("calls", "1/s", "Calls answered", rate("vllm:request_success_total")),
        ("prompt_tokens", "tokens/s", "Prompt tokens", rate("vllm:prompt_tokens_total")),
        ("output_tokens", "tokens/s", "Generated tokens", rate("vllm:generation_tokens_total")),
        ("prompt_mean", "tokens", "Prompt of a call", mean_of("request_prompt_tokens")),
        ("output_mean", "tokens", "Answer of a call", mean_of("request_generation_tokens")),
        ("caches_moved", "B/s", "Caches read from other replicas", rate("vllm:nixl_bytes_transferred_sum")),
        ("caches_lost", "1/s", "Caches that could not be read", rate("vllm:nixl_num_failed_transfers_total")),
        ("replicas", "1", "Replicas that answer", "count by (model_name) (vllm:num_requests_running)"),
    ),
    Figure(
        "memory", "Load", "store", "B", "Memory of the vector store",
        f"max by (pod) (memory_resident_bytes{{{STORES}}})", "vectors",
    ),
    Figure(
        "memory_soon", "Load", "store", "B", "The same in a week, as it grows now",
        f"max by (pod) (predict_linear(memory_resident_bytes{{{STORES}}}[{DAY}], 7 * 86400))", "vectors", slow=True,
    ),
    Figure("vectors", "Load", "store", "1", "Vectors kept", "sum by (pod) (collection_vectors)", "vectors"),
    Figure(
        "connections", "Load", "database", "ratio", "Connections to PostgreSQL in use",
        "sum by (pod) (cnpg_backends_total) / max by (pod) (cnpg_pg_settings_setting{name=\"max_connections\"})",
        "databases",
    ),
    Figure(
        "buffers", "Load", "database", "ratio", "PostgreSQL's blocks found in its buffers",
        f"{rate('cnpg_pg_stat_database_blks_hit', 'pod')} / ({rate('cnpg_pg_stat_database_blks_hit', 'pod')} + "
        f"{rate('cnpg_pg_stat_database_blks_read', 'pod')} > 0)", "databases",
    ),
    Figure(
        "commits", "Load", "database", "1/s", "Transactions of PostgreSQL",
        rate("cnpg_pg_stat_database_xact_commit", "pod"), "databases",
    ),
    Figure(
        "uncounted", "Load", "door", "1/s", "Calls let in while nobody could count their tokens",
        rate("envoy_cluster_ratelimit_error", "pod"), "doors",
    ),
)  # fmt: skip
FIGURES: dict[str, Figure] = {
    f"{figure.level}:{figure.name}": figure for figure in (*GPU, *QUEUE, *LATENCY, *HITS, *STORAGE, *LOAD)
}
