"""What can be asked of a site's rollout: its plan, where it stands, that it goes on, that it goes back."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path

from rackwright.errors import Refusal
from rackwright.rollout import journal
from rackwright.rollout.checked import refuse_overrides, refuse_unbuilt
from rackwright.rollout.journal import Journal
from rackwright.rollout.lock import held, holder
from rackwright.rollout.plan import Plan, plan
from rackwright.rollout.report import Status
from rackwright.rollout.runner import Agree, Runner
from rackwright.rollout.standing import Standing
from rackwright.rollout.taking_back import Return, go_back, the_way_back
from rackwright.rollout.world import World
from rackwright.site.site import Site


@dataclass(frozen=True)
class Rollout:
    """One site's, in the folder of its file; `hidden` are secrets, which the journal must never hold."""

    folder: Path
    site: Site
    world: World
    progress: Callable[[str], None]
    hidden: Collection[str] = ()

    @property
    def plan(self) -> Plan:
        """Its plan, and what of it can be carried out."""
        found = plan(self.site)
        built = self.world.built(found.places)
        return replace(found, not_built=tuple(place.name for place in found.places if place.name not in built))

    def status(self) -> Status:
        """Where it stands by the journal."""
        return Status(self.plan, journal.read(self.folder, self.site.name), holder(self.folder))

    def run(self, agree: Agree, until: str | None = None, overrides: Collection[str] = ()) -> Status:
        """Carry out what is left up to the end of a stage; Refusal where it cannot go on."""
        planned = self.plan
        refuse_unbuilt(planned, planned.up_to(until))
        refuse_overrides(planned, overrides)
        with held(self.folder) as died:
            self._runner(planned, agree, died, overrides).run(until)
        return self.status()

    def back(self, agree: Callable[[Return], None], to: str | None = None) -> Status:
        """Take back what was done, down to the end of a stage or to the start; Refusal where there is no way back."""
        planned = self.plan
        with held(self.folder) as died:
            runner = self._runner(planned, lambda *_: None, died, ())
            way_back = the_way_back(planned, self.world, Standing.of(runner.journal.entries), to)
            if way_back.places:
                agree(way_back)
                go_back(way_back, self.world, runner.journal, runner.watch, self.progress)
        return self.status()

    def _runner(self, planned: Plan, agree: Agree, died: str, overrides: Collection[str]) -> Runner:
        written = Journal(self.folder, self.hidden, self.site.name)
        if died:
            self.progress(f"{died} held this rollout and did not end it in order")
            if written.entries:
                written.append("taken over", words=died)
        return Runner(
            planned, self.world, written, agree, self.progress, frozenset(overrides), still=self._refuse_another_site
        )

    def _refuse_another_site(self) -> None:
        """Refusal where the file was changed since this command read it; SiteRefused where it has faults now."""
        if Site.load(self.folder) != self.site:
            raise Refusal(
                f"{self.folder / 'site.yml'} was changed while this ran; nothing more was done.",
                "Run the same command again: it goes on with what the file says now.",
            )
