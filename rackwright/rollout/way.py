"""Which way a site goes: who stays, who comes, what moves. Everything here follows from the site file."""

from dataclasses import dataclass

from rackwright.errors import Refusal
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
    def warnings(self) -> tuple[str, ...]:
        """What there is to know before."""
        found = []
        if self.left:
            found.append(f"{listed(self.left)} end with phase 1: phase 2 does not serve them")
        if not self.settings.copies_data:
            found.append("databases and collections of phase 1 are not copied: phase 2 begins with empty ones")
        if not self.joining:
            found.append(f"{listed(names(self.old))} stays as a cluster of its own: it has no phase 2 among its phases")
        wanted, stores = self.site.vectors.phase2.replicas, sum(1 for host in self.new if host.disk_gb("vectors"))
        if stores < wanted:
            found.append(
                f"until {listed(names(self.joining)) or 'another host'} joins, {stores} of {wanted} "
                "hosts for vectors are there: collections have fewer copies so long"
            )
        return tuple(found)


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
    return found


def names(hosts: tuple[Host, ...]) -> tuple[str, ...]:
    """Their names."""
    return tuple(host.name for host in hosts)


def listed(words: tuple[str, ...]) -> str:
    """Words in one line."""
    return ", ".join(words)
