"""Who exports what: the names of metrics by the version that they were read of, and whether the pinned one is known."""

from collections.abc import Callable
from dataclasses import dataclass

from rackwright.errors import Refusal
from rackwright.site.catalog import Catalog

NODE_PORT = 9100  # the nodes' exporter listens there on each host's own address
EXPORTERS_POD = "nvidia-dcgm-exporter.*"


@dataclass(frozen=True)
class Source:
    """One exporter at one version; metrics of `known` have the names that the figures read."""

    name: str
    pin: Callable[[Catalog], str]
    known: dict[str, str]  # by version: where its names were read
    present: str  # a series that is there whenever the exporter is


SOURCES = {
    source.name: source
    for source in (
        Source(
            "engine",
            lambda catalog: catalog.engine.version,
            {"v0.30.0": "wheel vllm 0.30.0, vllm/v1/metrics/loggers.py"},
            "vllm:num_requests_running",
        ),
        Source(
            "router",
            lambda catalog: catalog.images["llm-d-router"].tag,
            {"v0.10.0": "llm-d-router 0.10.0, docs/metrics.md and pkg/epp/metrics"},
            "llm_d_epp_ready_endpoints",
        ),
        Source(
            "doors",
            lambda catalog: catalog.images["envoy"].tag,
            {"v1.40.0": "Envoy 1.40, rate limit filter and server statistics; its own endpoint"},
            "envoy_server_live",
        ),
        Source(
            "gpus",
            lambda catalog: catalog.charts["gpu-operator"].version,
            {"v26.7.0": "dcgm-exporter 4.6.0, etc/default-counters.csv; the operator's chart 26.7.0"},
            "DCGM_FI_DEV_GPU_UTIL",
        ),
        Source(
            "vectors",
            lambda catalog: catalog.charts["qdrant"].version,
            {"1.19.0": "Qdrant 1.19, src/common/metrics.rs"},
            "collections_total",
        ),
        Source(
            "databases",
            lambda catalog: catalog.charts["cloudnative-pg"].version,
            {"0.29.0": "CloudNativePG 1.30, predefined metrics (config default-monitoring)"},
            "cnpg_collector_up",
        ),
        Source(
            "machines",
            lambda catalog: catalog.charts["kube-prometheus-stack"].version,
            {"88.5.3": "node_exporter 1.x, collector diskstats"},
            "node_disk_read_bytes_total",
        ),
        Source(
            "volumes",
            lambda catalog: catalog.kubernetes.minor,
            {"1.36": "kubelet, pkg/kubelet/metrics/collectors/volume_stats.go"},
            "kubelet_volume_stats_capacity_bytes",
        ),
    )
}


def check(catalog: Catalog) -> None:
    """Refusal where a pin has moved to a version whose names nobody has read."""
    for source in SOURCES.values():
        pinned = source.pin(catalog)
        if pinned not in source.known:
            raise Refusal(
                f"The metrics of {source.name} were read of {', '.join(source.known)}, and the catalog pins {pinned}.",
                "Compare the names in rackwright/observe/figures.py with that version, then state it in "
                "rackwright/observe/sources.py.",
            )


# The exporter's default list, with what the five metrics need and the default leaves out: how busy the SMs are.
GPU_COUNTERS = (
    ("DCGM_FI_DEV_GPU_UTIL", "gauge", "Share of time in which a kernel ran, in percent."),
    ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "gauge", "Share of time in which the compute engine was active."),
    ("DCGM_FI_PROF_SM_ACTIVE", "gauge", "Share of time in which a multiprocessor had work, averaged over them."),
    ("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "gauge", "Share of cycles in which the tensor cores were active."),
    ("DCGM_FI_PROF_DRAM_ACTIVE", "gauge", "Share of cycles in which memory was read or written."),
    ("DCGM_FI_DEV_FB_USED", "gauge", "Memory in use, in MiB."),
    ("DCGM_FI_DEV_FB_FREE", "gauge", "Memory that is free, in MiB."),
    ("DCGM_FI_DEV_FB_RESERVED", "gauge", "Memory that the driver keeps, in MiB."),
    ("DCGM_FI_DEV_GPU_TEMP", "gauge", "Temperature of the GPU, in C."),
    ("DCGM_FI_DEV_MEMORY_TEMP", "gauge", "Temperature of the memory, in C."),
    ("DCGM_FI_DEV_POWER_USAGE", "gauge", "Power drawn, in W."),
    ("DCGM_FI_DEV_XID_ERRORS", "gauge", "The last XID error."),
    ("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "counter", "Retries on PCIe."),
    ("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", "counter", "Rows remapped for errors that cannot be corrected."),
    ("DCGM_FI_DEV_ROW_REMAP_FAILURE", "gauge", "Whether remapping of a row has failed."),
    ("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", "counter", "Bytes over all NVLinks."),
)


def gpu_counters() -> str:
    """The list for the exporter of GPU metrics, in its own form."""
    return "".join(f"{name}, {kind}, {meaning.replace(',', ';')}\n" for name, kind, meaning in GPU_COUNTERS)
