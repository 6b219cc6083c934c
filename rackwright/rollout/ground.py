"""What a live site's acts stand on: its folder, its way, its secrets, and the programs of this checkout."""

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rackwright.checks.access import Access
from rackwright.rollout.way import Way
from rackwright.site.hosts import Phase
from rackwright.user_path import user_path

ROOT = Path(__file__).resolve().parents[2]


def silence(_: str) -> None:
    """The progress that nobody reads."""


@dataclass(frozen=True)
class Ground:
    """`values` are the vault's, and `environment` what programs are started with; a plan needs neither."""

    folder: Path
    way: Way
    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ), repr=False)
    progress: Callable[[str], None] = silence

    @property
    def kubectl(self) -> str:
        """The program, by its whole path where there is one."""
        return shutil.which("kubectl", path=self.environment.get("PATH")) or "kubectl"

    def kubeconfig(self, phase: Phase) -> Path:
        """What opens a phase's cluster."""
        cluster = self.way.site.cluster(phase)
        assert cluster is not None, "a way has both phases"  # noqa: S101 - way() refuses a site without
        return ROOT / user_path(cluster.kubeconfig)

    def access(self, phase: Phase) -> Access:
        """A phase's cluster, read-only."""
        return Access(self.kubeconfig(phase), self.kubectl)
