"""What a rehearsal of data came to: what applications were told, against what is there in the end."""

from dataclasses import dataclass
from typing import Any

from rackwright.rollout.gates import REFUSED_S


@dataclass(frozen=True)
class Figures:
    """Of one kind of store: `stands` says what stood in for it, `faults` what its operator would have refused."""

    name: str
    stands: str
    unit: str
    writers: int
    written: int
    lost: int
    refused_s: float
    faults: tuple[str, ...] = ()

    @property
    def well(self) -> bool:
        """Something was written, nothing of it is lost, and writes were refused for no longer than they may."""
        return self.written > 0 and self.lost == 0 and self.refused_s <= REFUSED_S and not self.faults

    @property
    def words(self) -> str:
        """A line of the report."""
        said = (
            f"{self.name} ({self.stands}): {self.written} {self.unit} acknowledged to {self.writers} writers, "
            f"{self.lost} lost; writes refused for at most {self.refused_s:.1f} s (wanted: 0, and {REFUSED_S} s)"
        )
        return "; ".join([said, *self.faults])

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "name": self.name,
            "stands": self.stands,
            "writers": self.writers,
            "written": self.written,
            "lost": self.lost,
            "refused_s": round(self.refused_s, 2),
            "faults": list(self.faults),
        }
