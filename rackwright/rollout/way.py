"""Which way a site goes: who stays, who comes, what moves. Everything here follows from the site file."""

from dataclasses import dataclass
from functools import cached_property

from rackwright.errors import Refusal
from rackwright.site.awaiting import awaiting
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Host
from rackwright.site.rollout import Rollout
from rackwright.site.site import Site


@dataclass(frozen=True)
class Way:
    """A site with both phases, and new hosts enough to stand beside the old one."""

    site: Site

    @property
    def settings(self) -> Rollout:
        """What is stated of the rollout itself."""
        return self.site.rollout or Rollout()

    @property
    def old(self) -> tuple[Host, ...]:
        """Hosts of phase 1."""
        return self.site.hosts_in(1)

    @property
    def new(self) -> tuple[Host, ...]:
        """Hosts of phase 2 that nobody is served by yet."""
        return tuple(host for host in self.site.hosts_in(2) if 1 not in host.phases)

    @property
    def joining(self) -> tuple[Host, ...]:
        """Hosts of phase 1 that phase 2 wants as well; without any, phase 1 stays as a cluster of its own."""
        return tuple(host for host in self.old if 2 in host.phases)

    @property
    def moving(self) -> tuple[str, ...]:
        """Models that both phases serve: theirs is the traffic that can be shifted."""
        second = {model.name for model, _ in self.site.models_in(2)}
        return tuple(model.name for model, _ in self.site.models_in(1) if model.name in second)

    @property
    def left(self) -> tuple[str, ...]:
        """Models of phase 1 that phase 2 does not serve."""
        return tuple(model.name for model, _ in self.site.models_in(1) if model.name not in self.moving)

    @property
    def databases(self) -> tuple[str, ...]:
        """Databases that come along."""
        if not self.settings.copies_data:
            return ()
        return tuple(database.name for database in self.site.postgresql.databases)

    @property
    def writing(self) -> tuple[str, ...]:
        """Parts of phase 2 that write to databases from the start, and so not before these are phase 2's own."""
        site = self.site
        found = (("MLflow", site.training and site.training.tracking), ("Langfuse", site.langfuse))
        return tuple(name for name, wished in found if wished and self.settings.copies_data)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What there is to know before."""
        found = []
        if self.left:
            found.append(f"{listed(self.left)} end with phase 1: phase 2 does not serve them")
        if not self.settings.copies_data:
            found.append("databases and collections of phase 1 are not copied: phase 2 begins with empty ones")
        if self.writing:
            found.append(f"{listed(self.writing)} come to phase 2 at the point of no return: a copy takes no writes")
        if not self.joining:
            found.append(f"{listed(names(self.old))} stays as a cluster of its own: it has no phase 2 among its phases")
        if fewer := self._fewer():
            found.append(f"until {listed(names(self.joining))} joins, phase 2 has {listed(fewer)}")
        return tuple(found)

    @cached_property
    def meanwhile(self) -> Site:
        """The site until the old hosts join; Refusal where the new ones alone cannot carry phase 2."""
        return awaiting(self.site, names(self.joining), Catalog.load())

    def _fewer(self) -> tuple[str, ...]:
        """What is less until then."""
        now, then = self.meanwhile, self.site
        counts = [
            (f"replicas of {model.name}", model.phase2.replicas, wished.phase2.replicas)
            for model, wished in zip(now.models, then.models, strict=True)
        ]
        counts.append(("stores of vectors", now.vectors.phase2.replicas, then.vectors.phase2.replicas))
        counts.append(("servers of PostgreSQL", now.postgresql.phase2.instances, then.postgresql.phase2.instances))
        return tuple(f"{here} of {wished} {what}" for what, here, wished in counts if here < wished)


def way(site: Site) -> Way:
    """The way of a site; Refusal where it has none, or could not stand on its new hosts alone."""
    for phase in (1, 2):
        if phase not in site.phases:
            raise Refusal(f"The site {site.name} has no phase {phase}.", f"Describe clusters.phase{phase}.")
    found = Way(site)
    if not found.moving:
        raise Refusal(f"No model of {site.name} is served in both phases.", "Give one of them replicas in both.")
    for role, need in (("control", "to found its cluster"), ("inference", "to serve on")):
        if not any(role in host.roles for host in found.new):
            raise Refusal(
                f"Phase 2 has no {role} host {need} that phase 1 does not need meanwhile.",
                f"Add one with `phases: [2]`; {listed(names(found.old))} serves until the end.",
            )
    found.meanwhile  # noqa: B018 - refuses what the new hosts cannot carry
    return found


def names(hosts: tuple[Host, ...]) -> tuple[str, ...]:
    """Their names."""
    return tuple(host.name for host in hosts)


def listed(words: tuple[str, ...]) -> str:
    """Words in one line."""
    return ", ".join(words)
