"""Advice about prefill and decode apart: four conditions, each of which can say no."""

from rackwright.advice.advice import Advice, Rests
from rackwright.advice.seen import Seen
from rackwright.capacity.disaggregation import Apart, apart
from rackwright.capacity.site_plan import replica_in
from rackwright.capacity.timing import Timing
from rackwright.observe.limits import GPU_BUSY, KV_FULL
from rackwright.observe.trend import trend
from rackwright.site.hosts import Phase
from rackwright.site.models import Model
from rackwright.site.rdma_ports import rdma_gbps
from rackwright.site.serving import Serving
from rackwright.site.site import Site


def divided(site: Site, phase: Phase, model: Model, serving: Serving, seen: Seen, *, asked: bool) -> list[Advice]:
    """A rise beyond chance, cache and GPUs that are not full, a gain that is reckoned.

    Silent where nothing asks, and where the model is divided already.
    """
    values = seen.series.values("model:ttft_p95", seen.model)
    line = trend(values)
    rises = line is not None and line.rises
    if serving.disaggregation or (not asked and not rises):
        return []
    rests = (
        *seen.rests("ttft_p95", "ttft_usual", "gpu_utilisation", "kv_usage", "calls", "prompt_mean", "output_mean"),
        Rests("Trend of the first token", _spell(line, seen.series.step_s), "slope with its 95 % interval"),
    )
    no = _reason_against(seen, rises=rises)
    load = seen.demand()
    if no is None and load is None:
        no = "its load was not seen"
    if no is not None or load is None:
        return [_not_apart(model, f"The first token comes later, but {no}.", rests)]
    speed = _speed(site)
    replica = replica_in(site, max(site.phases), model)
    replicas = _later(site, model, serving)
    found = apart(Timing(replica), load.on(replica, replicas), replicas, speed)
    rests = (*rests, *_reckoned(found))
    if not found.pays:
        return [_not_apart(model, f"On {speed:g} Gbit/s it would not pay: {found.why}.", rests)]
    return [_yes(site, phase, model, found, rests)]


def _reason_against(seen: Seen, *, rises: bool) -> str | None:
    kv, gpu = seen.figure("kv_usage"), seen.figure("gpu_utilisation")
    if not rises:
        return "its rise is not more than chance"
    if kv is None or kv >= KV_FULL:
        return (
            "decoding is limited by the KV cache, which dividing does not enlarge"
            if kv
            else "the KV cache was not seen"
        )
    if gpu is None:
        return "the use of its GPUs was not seen"
    return f"its GPUs are full ({gpu:.0%}): it wants replicas" if gpu > GPU_BUSY else None


def _not_apart(model: Model, why: str, rests: tuple[Rests, ...]) -> Advice:
    return Advice(model.name, "do not disaggregate", "Keep prefill and decode together.", why, rests)


def _yes(site: Site, phase: Phase, model: Model, found: Apart, rests: tuple[Rests, ...]) -> Advice:
    split = f"{found.prefill} prefill and {found.decode} decode replicas"
    first = "Move to phase 2, which alone can do it, then d" if phase == 1 and 2 in site.phases else ""
    if phase == 1 and not first:
        why = f"It would pay ({found.why}), and only phase 2 can do it, which this site does not have."
        return _not_apart(model, why, rests)
    gain = f"further tokens {found.together_tpot_ms:.1f} to {found.tpot_ms:.1f} ms"
    cost = (
        f"first token {found.together_ttft_ms:.0f} to {found.ttft_ms:.0f} ms, {found.transfer_ms:.0f} ms of it transfer"
    )
    switch = f"disaggregation: {{prefill: {found.prefill}, decode: {found.decode}}}"
    what = f"{first or 'D'}ivide it into {split} (phase2: `{switch}`): {gain}; cost: {cost}, and no more GPUs."
    why = f"The first token comes later beyond chance, the cache is not full, GPUs are not full, and {found.why}."
    return Advice(model.name, "disaggregate", what, why, rests)


def _reckoned(found: Apart) -> tuple[Rests, ...]:
    origin = "rackwright.capacity"
    return (
        Rests("Further tokens together and apart", f"{found.together_tpot_ms:.1f}, {found.tpot_ms:.1f} ms", origin),
        Rests("First token together and apart", f"{found.together_ttft_ms:.0f}, {found.ttft_ms:.0f} ms", origin),
        Rests("Transfer of a prompt's cache", f"{found.transfer_ms:.0f} ms on {found.network_gbps:g} Gbit/s", origin),
    )


def _later(site: Site, model: Model, serving: Serving) -> int:
    """Replicas in the site's last phase, where alone they can be divided."""
    last = {known.name: there.replicas for known, there in site.models_in(max(site.phases))}
    return last.get(model.name) or serving.replicas


def _speed(site: Site) -> float:
    """Of the slowest inference server, the port by which caches move; where one has none, the fastest of any kind."""
    hosts = site.hosts_in(max(site.phases), "inference")
    speeds = [rdma_gbps(host) for host in hosts]
    known = [speed for speed in speeds if speed is not None]
    if known and len(known) == len(speeds):
        return float(min(known))
    return float(max((nic.speed_gbps for host in hosts for nic in host.nics), default=25))


def _spell(line: object, step_s: float) -> str:
    slope, margin = getattr(line, "slope", None), getattr(line, "margin", 0.0)
    if slope is None:
        return "too few values"
    hourly = 3600 / step_s * 1e3
    return f"{slope * hourly:+.0f} ± {margin * hourly:.0f} ms an hour"
