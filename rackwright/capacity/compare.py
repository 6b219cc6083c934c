"""Ways to serve a model under a load, side by side: precision, split, GPU; what does not fit is out, with the limit."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rackwright.capacity.deployment import Deployment
from rackwright.capacity.feasibility import check
from rackwright.capacity.population import Population
from rackwright.capacity.sizing import Sized, size
from rackwright.capacity.timing import Timing
from rackwright.errors import Refusal
from rackwright.site.workload import Targets

SPLITS = (1, 2, 4, 8)  # inside one machine


@dataclass(frozen=True)
class Way:
    """One way to serve the model, sized for the load; on the frontier where no other is better in everything."""

    replica: Deployment
    sized: Sized
    on_frontier: bool

    @property
    def gpus(self) -> int:
        """GPUs that the load needs this way."""
        return self.sized.needed * self.replica.gpus


@dataclass(frozen=True)
class Out:
    """One way that is none, and why."""

    replica: Deployment
    why: str


def compare(
    replicas: Iterable[Deployment], who: Population, targets: Targets, context_length: int
) -> tuple[list[Way], list[Out]]:
    """Ways that carry the load, fewest GPUs first, and those that do not."""
    ways: list[Way] = []
    out: list[Out] = []
    for replica in replicas:
        try:
            check(replica, context_length)
        except Refusal as refusal:
            out.append(Out(replica, refusal.what))
            continue
        timing = Timing(replica)
        found = size(timing, who, targets, 1)
        if not found.needed:
            out.append(Out(replica, f"{found.gives_way} is missed by a call alone."))
            continue
        ways.append(Way(replica, size(timing, who, targets, found.needed), on_frontier=False))
    ways.sort(key=lambda way: (way.gpus, way.sized.state.tpot_ms))
    return [Way(way.replica, way.sized, _on_frontier(way, ways)) for way in ways], out


def _on_frontier(way: Way, ways: Sequence[Way]) -> bool:
    mine = (way.gpus, way.sized.state.tpot_ms, way.sized.state.ttft_ms)
    return not any(
        all(theirs <= own for theirs, own in zip(_figures(other), mine, strict=True)) and _figures(other) != mine
        for other in ways
    )


def _figures(way: Way) -> tuple[float, float, float]:
    return way.gpus, way.sized.state.tpot_ms, way.sized.state.ttft_ms


def ways_of(base: Deployment, devices: Iterable[Deployment], precisions: Iterable[str]) -> list[Deployment]:
    """Every split and precision of a model on every device."""
    shape, most = base.shape, [each for each in SPLITS if base.shape.attention_heads % each == 0]
    return [
        device.with_(shape=shape, precision=precision, tensor_parallel=split, pipeline_parallel=1)
        for device in devices
        for precision in precisions
        for split in most
    ]
