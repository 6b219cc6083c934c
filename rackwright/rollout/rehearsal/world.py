"""The world of a rehearsal: which steps and gates are real on two clusters, and which are played."""

from dataclasses import dataclass, field

from rackwright.rollout.gates import Gate
from rackwright.rollout.ground import ROOT
from rackwright.rollout.plan import plan
from rackwright.rollout.platform.drain import Drain
from rackwright.rollout.platform.lay import Lay, Scale
from rackwright.rollout.platform.weights import Weights
from rackwright.rollout.pulumi_door import PulumiDoor
from rackwright.rollout.rehearsal.ground import Cluster
from rackwright.rollout.rehearsal.played import PlayedAct, PlayedGate, Simulated
from rackwright.rollout.rehearsal.services import Services
from rackwright.rollout.traffic import shares
from rackwright.rollout.way import Way, listed, names
from rackwright.rollout.world import Act, World

FAILING = "errors"  # the gate that fails once, at the first share, so that a step takes itself back


@dataclass(frozen=True)
class Rehearsed:
    """Both clusters of a way, and the data services behind them."""

    way: Way
    first: Cluster
    second: Cluster
    services: Services = field(default_factory=Services)
    fault: PlayedGate = field(default_factory=lambda: PlayedGate(fails=1))

    @property
    def door(self) -> PulumiDoor:
        """Phase 1's door."""
        return PulumiDoor(self.first.stack, self.first.kubectl)

    def acts(self) -> dict[str, Act]:
        """Those that are real here, as far as machines are simulated."""
        new, joining = names(self.way.new), names(self.way.joining)
        first, second = self.first, self.second
        found: dict[str, Act] = {
            "cluster/found": Simulated(
                lambda: second.has(new), lambda: second.power_on(new), lambda: second.power_off(new)
            ),
            "platform/lay": Lay(second.stack, joining, self.services.copies_databases),
            "copy/weights": Weights(second.access, self.way.moving, second.progress),
            **shares(self.door, self.way.settings.weights),
            **self.services.acts,
        }
        if joining:
            found |= {
                "no-return/drain": Drain(ROOT, first.kubectl, joining),
                "no-return/clean": Simulated(lambda: not first.has(joining), self._clean),
                "no-return/join": Simulated(lambda: second.has(joining), lambda: second.power_on(joining)),
                "no-return/scale": Scale(second.stack),
            }
        return found

    def gates(self) -> dict[str, Gate]:
        """Those that are real here."""
        weights = Weights(self.second.access, self.way.moving, self.second.progress)
        return {
            "phase-1-serves": self.first.serves,
            "phase-2-serves": self.second.serves,
            "weights-there": weights.there,
            **self.services.gates,
        }

    def _clean(self) -> None:
        """Phase 1's machines are gone, and what ran on them."""
        self.first.power_off(names(self.way.joining))
        self.services.leave_phase_1()

    def world(self) -> World:
        """All of it: what is not real is played; at the first share one gate fails once."""
        places, acts, gates = plan(self.way.site).places, self.acts(), self.gates()
        played: dict[str, Gate] = {name: PlayedGate() for place in places for name in place.step.gates}
        weights = self.way.settings.weights
        once: dict[str, Gate] = {f"traffic/share-{weights[0]} {FAILING}": self.fault}
        return World({place.name: acts.get(place.name) or PlayedAct() for place in places}, {**played, **gates, **once})

    def played(self) -> tuple[str, ...]:
        """Names of steps and gates that are played, for the report; some gates are read at some steps alone."""
        places, acts, gates = plan(self.way.site).places, self.acts(), self.gates()
        steps = [place.name for place in places if place.name not in acts]
        everywhere: dict[str, list[str]] = {}
        for place in places:
            for name in place.step.gates:
                if name not in gates and f"{place.name} {name}" not in gates:
                    everywhere.setdefault(name, []).append(place.name)
        read = {each.rpartition(" ")[2] for each in gates if " " in each}
        of = {name: f" of {listed(tuple(where))}" if name in read else "" for name, where in everywhere.items()}
        return (*steps, *(f"gate {name}{where}" for name, where in of.items()))
