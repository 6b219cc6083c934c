"""One figure of a running site: what it is, of what, and how Prometheus finds it."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["gpu", "model", "disk", "host", "volume", "store", "database", "door"]
Unit = Literal["ratio", "s", "1", "1/s", "B", "B/s", "tokens/s", "tokens"]

# By level: the labels by which its series differ.
LABELS: dict[Level, tuple[str, ...]] = {
    "gpu": ("Hostname", "gpu", "GPU_I_ID", "namespace", "pod"),
    "model": ("model_name",),
    "disk": ("instance", "device"),
    "host": ("instance",),
    "volume": ("namespace", "persistentvolumeclaim"),
    "store": ("pod",),
    "database": ("pod",),
    "door": ("pod",),
}
Group = Literal["GPU utilisation", "Queue depth", "Latency", "KV-cache hit rate", "Storage I/O", "Load"]


@dataclass(frozen=True)
class Figure:
    """A figure; `slow` ones look a day back and are reckoned every few minutes."""

    name: str
    group: Group
    level: Level
    unit: Unit
    title: str
    expression: str
    source: str
    slow: bool = False

    @property
    def record(self) -> str:
        """The series under which Prometheus keeps it."""
        return f"rackwright:{self.level}:{self.name}"

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels by which its series differ."""
        return LABELS[self.level]

    @property
    def by(self) -> str:
        """Those labels as PromQL writes them."""
        return ", ".join(self.labels)
