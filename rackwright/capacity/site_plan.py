"""A site reckoned: each model of a phase on its GPUs, and what the phase needs besides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rackwright.capacity.compare import Out, Way, compare, ways_of
from rackwright.capacity.demand import population
from rackwright.capacity.deployment import Deployment
from rackwright.capacity.disaggregation import NETWORKS_GBPS, Apart, apart
from rackwright.capacity.hardware import hardware
from rackwright.capacity.needs import Need, needs
from rackwright.capacity.population import Population
from rackwright.capacity.simulation import Simulated, simulate
from rackwright.capacity.sizing import Sized, size
from rackwright.capacity.timing import Timing
from rackwright.errors import Refusal
from rackwright.site.gpu_resources import device_gib
from rackwright.site.hosts import Gpus, Phase
from rackwright.site.known.tensors import BITS_PER_PARAMETER
from rackwright.site.models import Model
from rackwright.site.moving import servers_of
from rackwright.site.rdma_ports import rdma_gbps
from rackwright.site.serving import Serving
from rackwright.site.site import Site
from rackwright.site.spans import HandingOn, handing_on, spanning

TAIL_CALLS = 8_000  # calls of a model that are simulated: its hour, or the part of one in which a busy site makes them


@dataclass(frozen=True)
class ModelPlan:
    """One model in one phase."""

    model: Model
    timing: Timing
    who: Population
    sized: Sized
    divided: tuple[Apart, ...]
    wished: Apart | None  # as the site has it divided
    hour: Simulated | None
    between: HandingOn | None  # where a replica takes several hosts

    @property
    def replica(self) -> Deployment:
        """One of its replicas."""
        return self.timing.replica


@dataclass(frozen=True)
class PhasePlan:
    """One phase of the site."""

    phase: Phase
    gpus: int
    models: tuple[ModelPlan, ...]
    needs: tuple[Need, ...]

    @property
    def gpus_needed(self) -> int | None:
        """GPUs that the load needs with headroom; nothing where no number of them meets the targets."""
        if any(plan.sized.needed == 0 for plan in self.models):
            return None
        return sum(plan.sized.needed * plan.replica.gpus for plan in self.models)


def plan(site: Site, *, with_tails: bool = False, shares: Mapping[str, float] | None = None) -> tuple[PhasePlan, ...]:
    """Every phase of a site; models share the load evenly unless `shares` says otherwise."""
    if site.workload.users + site.workload.agents == 0:
        raise Refusal("The workload has no users and no agents.", "State users or agents under workload.")
    return tuple(_phase(site, phase, with_tails, dict(shares or {})) for phase in site.phases if site.models_in(phase))


def _phase(site: Site, phase: Phase, with_tails: bool, shares: dict[str, float]) -> PhasePlan:
    served = site.models_in(phase)
    split = _shares([model.name for model, _ in served], shares)
    plans = tuple(
        _model(site, phase, model, serving, split[model.name], with_tails)
        for model, serving in served
        if split[model.name] > 0
    )
    gpus = sum(host.gpu_count for host in site.hosts_in(phase, "inference"))
    agents = [each.sized for each in plans]
    return PhasePlan(phase, gpus, plans, needs(site, phase, agents))


def _model(site: Site, phase: Phase, model: Model, serving: Serving, share: float, with_tails: bool) -> ModelPlan:
    replicas = serving.replicas
    timing = Timing(replica_in(site, phase, model))
    who = population(site.workload, share, model.context_length)
    if who.users + who.agents == 0:
        who = replace(who, users=1)
    sized = size(timing, who, site.targets, replicas)
    divided = tuple(apart(timing, sized.load, replicas, speed) for speed in NETWORKS_GBPS) if phase == 2 else ()
    wished = _wished(site, model, serving, timing, sized) if phase == 2 else None
    hour = None
    if with_tails and sized.carries >= 1:  # beyond that the queue only grows, and tails say how long one looked
        hours = min(1.0, TAIL_CALLS / (who.calls_per_second * 3600))
        hour = simulate(timing, replicas, who, hours=hours, priority=serving.priority)
    between = next((handing_on(site, each) for each in spanning(site) if each.model.name == model.name), None)
    return ModelPlan(model, timing, who, sized, divided, wished, hour, between if phase == 2 else None)


def _wished(site: Site, model: Model, serving: Serving, timing: Timing, sized: Sized) -> Apart | None:
    """The site's own division, over the slowest host's port, as if both halves had the GPUs of one that answers."""
    if serving.disaggregation is None:
        return None
    speed = float(min(rdma_gbps(host) or 0 for host in servers_of(model, site)))
    return apart(timing, sized.load, serving.replicas, speed, wished=serving.disaggregation.prefill)


def replica_in(site: Site, phase: Phase, model: Model) -> Deployment:
    """A replica of a model on the inference GPUs of a phase: those of the host that has the most."""
    hosts = [host for host in site.hosts_in(phase, "inference") if host.gpus]
    if not hosts:
        raise Refusal(f"Phase {phase} has no inference host with GPUs.", "Give a host the role and GPUs.")
    gpus: Gpus = max((host.gpus for host in hosts if host.gpus), key=lambda each: each.count)
    whole = hardware(gpus.product, memory_gb=gpus.memory_gb, link=gpus.link)
    usable = device_gib(gpus, model.mig_profile)
    part = usable / whole.usable_gib
    device = replace(
        whole,
        usable_gib=usable,
        bandwidth=whole.bandwidth * part,
        compute={precision: value * part for precision, value in whole.compute.items()},
    )
    return Deployment(
        name=model.name,
        shape=model.shape,
        precision=model.precision,
        hardware=device,
        tensor_parallel=model.tensor_parallel,
        pipeline_parallel=model.pipeline_parallel,
        kv_bits=8 if model.kv_precision == "fp8" else 16,
        memory_fraction=model.memory_fraction,
        sequences=model.sequences,
    )


def ways_for(
    site: Site, name: str | None, gpus: Sequence[str], precisions: Sequence[str], share: float
) -> tuple[list[Way], list[Out]]:
    """Ways to serve one of the site's models, by default on its own GPUs, in its precision and in 8 bits."""
    names = [model.name for model in site.models]
    if name is not None and name not in names:
        raise Refusal(f"The site serves no {name[:60]}.", f"It serves {', '.join(names)}.")
    model = next(model for model in site.models if name in (None, model.name))
    base = replica_in(site, max(site.phases), model)
    unknown = [each for each in precisions if each not in BITS_PER_PARAMETER]
    if unknown:
        raise Refusal(
            f"The precision {unknown[0][:40]!r} is not known.", f"Write one of {', '.join(BITS_PER_PARAMETER)}."
        )
    devices = [base.with_(hardware=hardware(each)) for each in gpus] or [base]
    bits = precisions or list(dict.fromkeys((model.precision, "fp8")))
    who = population(site.workload, share, model.context_length)
    return compare(ways_of(base, devices, bits), who, site.targets, model.context_length)


def _shares(names: list[str], stated: dict[str, float]) -> dict[str, float]:
    unknown = sorted(set(stated) - set(names))
    if unknown:
        raise Refusal(f"No model {', '.join(unknown)} is served.", f"Served: {', '.join(names)}.")
    total = sum(stated.values())
    if total > 1 + 1e-9 or any(value < 0 for value in stated.values()):
        raise Refusal(f"The shares sum to {total:g}.", "Write shares from 0 to 1 that sum to at most 1.")
    others = [name for name in names if name not in stated]
    return {name: stated.get(name, (1 - total) / len(others) if others else 0.0) for name in names}
