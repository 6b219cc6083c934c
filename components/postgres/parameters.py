"""The server's settings, from what it is given."""

from rackwright.site.postgresql import Postgresql

OPERATORS_CONNECTIONS = 20  # for the operator, replication and the exporter, beside the applications'


def parameters(postgresql: Postgresql) -> dict[str, str]:
    """The server's settings for its memory, cores and connections on NVMe; every value is a string."""
    memory_mb, cores = postgresql.memory_gib * 1024, postgresql.cores
    return {
        "max_connections": str(postgresql.connections + OPERATORS_CONNECTIONS),
        "shared_buffers": f"{memory_mb // 4}MB",
        "effective_cache_size": f"{memory_mb * 65 // 100}MB",
        "maintenance_work_mem": f"{min(2048, max(64, memory_mb // 16))}MB",
        # A quarter of the memory over all connections: one query may take it several times, few take it at once.
        "work_mem": f"{max(4, memory_mb // 4 // postgresql.connections)}MB",
        "huge_pages": "off",  # a pod that does not request them is killed when it touches one
        **_log_of_writes(postgresql),
        **_processors(cores),
        "random_page_cost": "1.1",
        "effective_io_concurrency": "200",
        "autovacuum_vacuum_scale_factor": "0.05",
        "autovacuum_analyze_scale_factor": "0.02",
        "autovacuum_vacuum_cost_limit": "2000",
        "idle_in_transaction_session_timeout": "10min",
        "jit": "off",  # it costs more than it gives on short queries
        "track_io_timing": "on",
        "log_min_duration_statement": "1s",
        "log_lock_waits": "on",
        "pg_stat_statements.max": "10000",  # the operator loads the library for it
        "pg_stat_statements.track": "all",
    }


def _log_of_writes(postgresql: Postgresql) -> dict[str, str]:
    """Settings of the write-ahead log, inside its volume."""
    largest_mb = min(32 * 1024, postgresql.wal_size_gb * 1000 // 4)
    return {
        "max_wal_size": f"{largest_mb}MB",
        "min_wal_size": f"{max(80, largest_mb // 4)}MB",
        "wal_keep_size": f"{min(2048, largest_mb // 4)}MB",
        "wal_buffers": "64MB",
        "wal_compression": "zstd",
        "checkpoint_timeout": "15min",
    }


def _processors(cores: int) -> dict[str, str]:
    return {
        "max_worker_processes": str(max(8, cores)),
        "max_parallel_workers": str(cores),
        "max_parallel_workers_per_gather": str(min(4, max(1, cores // 2))),
        "max_parallel_maintenance_workers": str(min(4, max(1, cores // 2))),
        "io_method": "worker",
        "io_workers": str(min(32, max(3, cores // 4))),
    }
