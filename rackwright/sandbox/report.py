"""What a rehearsal has seen, for people and for programs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rackwright.checks import Verdict
from rackwright.sandbox.chart_sources import ChartSource
from rackwright.sandbox.events import Part
from rackwright.sandbox.stages import Played
from rackwright.sandbox.tools import Source, Toolbox
from rackwright.site.hosts import Phase

# What no rehearsal can show, whichever site and charts it has.
NEVER_SEEN = (
    "Containers do not run: no image was pulled, no model loaded, no request answered, no metric scraped.",
    "No GPU, driver, NVMe drive or network link was touched; nodes report what the site file says.",
    "Network policies were read, not enforced; no packet went through the cluster.",
    "Webhooks are off in the API server, so nothing was defaulted or refused by one.",
    "Secrets were throw-away ones; the site's own were at most opened and checked for completeness.",
)


@dataclass
class Report:
    """One rehearsal."""

    site: str
    phase: Phase
    vault: str
    charts: tuple[ChartSource, ...]
    crds: tuple[Path, ...]
    toolbox: Toolbox = field(default_factory=lambda: Toolbox({}))
    notes: tuple[str, ...] = ()
    steps: dict[str, float] = field(default_factory=dict)
    parts: dict[str, Part] = field(default_factory=dict)
    changes: list[str] = field(default_factory=list)
    outputs: dict[str, Any] = field(default_factory=dict)
    verdict: Verdict = field(default_factory=lambda: Verdict(()))
    played: list[Played] = field(default_factory=list)
    kept: dict[str, str] = field(default_factory=dict)

    @property
    def succeeded(self) -> bool:
        """True where everything came up, a second run found nothing to do and no check failed."""
        return self.verdict.succeeded and not self.changes

    def as_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "site": self.site,
            "phase": self.phase,
            "succeeded": self.succeeded,
            "seconds": {name: round(seconds, 1) for name, seconds in self.steps.items()},
            "components": {
                name: {"resources": part.resources, "seconds": round(part.seconds, 1)}
                for name, part in self.parts.items()
            },
            "second_run": {"changes": self.changes},
            "outputs": self.outputs,
            **self.verdict.as_json(),
            "charts": {each.name: {"source": each.what, "stand_in": each.is_stand_in} for each in self.charts},
            "definitions": [str(folder) for folder in self.crds],
            "tools": self.toolbox.report(),
            "played": [{"stage": each.name, "kind": each.kind, "what": each.sentence} for each in self.played],
            "not_seen": list(NEVER_SEEN),
            "notes": list(self.notes),
            "vault": self.vault,
            "kept": self.kept,
        } | {"succeeded": self.succeeded}

    def text(self) -> str:
        """The report for people."""
        sections = (
            ("What came up", self._came_up()),
            ("What the checks found", self._found()),
            ("Who played what", (f"{each.sentence}" for each in self.played)),
            ("What was not seen", NEVER_SEEN),
            ("From where", self._from_where()),
            ("How long it took", (f"{seconds:5.1f} s  {name}" for name, seconds in self.steps.items())),
            ("Notes", self.notes),
            ("Kept", self._kept()),
        )
        blocks = [_block(title, lines) for title, lines in sections]
        return "\n\n".join(block for block in (*blocks, self._last_word()) if block)

    def _came_up(self) -> Iterator[str]:
        for name, part in self.parts.items():
            if part.resources:
                yield f"{part.resources:3d} resources  {part.seconds:5.1f} s  {name}"

    def _found(self) -> Iterator[str]:
        for checked in self.verdict.checks:
            yield from checked.lines()
        if self.changes:
            yield "FAIL A second run would change what the first has made:"
            yield from (f"    {change}" for change in self.changes)
        else:
            yield "ok   A second run finds nothing to do."

    def _from_where(self) -> Iterator[str]:
        yield f"secrets: throw-away; the site's own vault: {self.vault}"
        stand_ins = [each.name for each in self.charts if each.is_stand_in]
        if stand_ins:
            yield f"charts: stand-ins of Rackwright's own for {', '.join(stand_ins)}"
        yield from (f"chart {each.name}: {each.what}" for each in self.charts if not each.is_stand_in)
        yield from (f"definitions: {folder}" for folder in self.crds)
        for source in Source:
            named = [f"{name} {tool.version}".rstrip() for name, tool in self.toolbox.items() if tool.source is source]
            if named:
                yield f"{source.value}: {', '.join(named)}"

    def _kept(self) -> Iterator[str]:
        if self.kept:
            yield f"The cluster runs on: export KUBECONFIG={self.kept['kubeconfig']}"
            yield f"End it with: rackwright rehearse --end {self.kept['name']}"

    def _last_word(self) -> str:
        seconds = sum(self.steps.values())
        state = "came up" if self.succeeded else "did NOT come up as it should"
        return f"{self.site}, phase {self.phase}, {state}: {self.verdict.summary()}; {seconds:.0f} s."


def _block(title: str, lines: Iterable[str]) -> str:
    body = [f"  {line}" for line in lines]
    return "\n".join([title, *body]) if body else ""
