"""What is kept of the metrics, and where."""

from pydantic import Field

from rackwright.site.settings import Settings, StorageClass


class Monitoring(Settings):
    """Prometheus, Alertmanager and Grafana."""

    retention_days: int = Field(default=30, ge=1, le=400, description="How long metrics are kept.")
    size_gb: int = Field(
        default=100, ge=5, le=1_000_000, description="Volume for metrics, in GB; the oldest go when it is full."
    )
    storage_class: StorageClass = Field(
        default="nvme-scratch", description="Block storage; metrics can be lost without harm."
    )
    scrape_interval_s: int = Field(default=15, ge=5, le=60, description="Seconds between two scrapes of a target.")
