"""Advice about one model: whether it is fine, wants replicas, another phase, or prefill and decode apart."""

from collections.abc import Sequence

from rackwright.advice.advice import Advice, Rests
from rackwright.advice.seen import Seen
from rackwright.capacity.disaggregation import Apart, apart
from rackwright.capacity.site_plan import replica_in
from rackwright.capacity.sizing import HEADROOM, needed
from rackwright.capacity.timing import Timing
from rackwright.observe.judge import Fired
from rackwright.observe.limits import GPU_BUSY, KV_FULL
from rackwright.observe.trend import trend
from rackwright.site.hosts import Phase
from rackwright.site.models import Model
from rackwright.site.serving import Serving
from rackwright.site.site import Site

BEHIND = frozenset({"GpuBusyAndBehind", "QueueTooLong", "FirstTokenOverTarget", "FurtherTokensOverTarget"})
CACHE = "CacheHitRateFalls"
DEGRADED = "FirstTokenSlowWhileGpusAreNotFull"


def of_model(
    site: Site, phase: Phase, model: Model, serving: Serving, seen: Seen, fired: Sequence[Fired]
) -> list[Advice]:
    """Everything to be said about one model, of the most pressing first."""
    if not seen.was_seen:
        what = "Nothing was seen of it: see its pods, its monitor and `rackwright check`."
        return [Advice(model.name, "unseen", what, "Its engine shows no metrics.", seen.rests("running", "replicas"))]
    lasting = {each.trigger.name for each in fired if each.lasts}
    said = []
    if lasting & BEHIND:
        said.append(_behind(site, phase, model, serving, seen, sorted(lasting & BEHIND)))
    if CACHE in lasting:
        said.append(_cache(model, seen))
    said += _apart(site, phase, model, serving, seen, asked=DEGRADED in lasting)
    if not any(each.calls_for_action for each in said):
        said.insert(0, _fine(model, seen, fired))
    return said


def _fine(model: Model, seen: Seen, fired: Sequence[Fired]) -> Advice:
    over = sorted({each.trigger.name for each in fired})
    why = f"No trigger holds now; {', '.join(over)} did and is over." if over else "No trigger fired in what was seen."
    return Advice(model.name, "fine", "Nothing to do.", why, seen.rests("ttft_p95", "tpot_p95", "queue", "kv_usage"))


def _behind(site: Site, phase: Phase, model: Model, serving: Serving, seen: Seen, triggers: list[str]) -> Advice:
    names = (
        "ttft_p95",
        "tpot_p95",
        "queue",
        "kv_usage",
        "gpu_utilisation",
        "calls",
        "prompt_mean",
        "output_mean",
        "hit_rate",
    )
    rests, asked = seen.rests(*names), seen.demand()
    why = f"{', '.join(triggers)} holds."
    if asked is None:
        what = f"Add a replica to the {serving.replicas} that there are, and look again: its load was not seen."
        return Advice(model.name, "scale", what, why, rests)
    wanted = needed(Timing(replica_in(site, phase, model)), asked, site.targets)
    rests = (*rests, Rests("Replicas needed", str(wanted or "none"), f"rackwright plan, {1 - HEADROOM:.0%} headroom"))
    if wanted == 0:
        what = (
            "No number of replicas meets the targets with such calls: shorten prompts, raise targets or split tensors."
        )
        return Advice(model.name, "mend", what, why, rests)
    if wanted <= serving.replicas:
        what = (
            f"{serving.replicas} replicas should carry this load, and {wanted} would do: look for a replica that is "
            "slow or gone, and for calls that all reach one of them, before buying."
        )
        return Advice(model.name, "mend", what, why, rests)
    return _more(site, phase, model, serving, wanted, why, rests)


def _more(
    site: Site, phase: Phase, model: Model, serving: Serving, wanted: int, why: str, rests: tuple[Rests, ...]
) -> Advice:
    """More replicas: here where GPUs are free, in phase 2 where they are not and that has them, else from a shop."""
    extra = (wanted - serving.replicas) * model.gpus
    free = _free(site, phase)
    rests = (*rests, Rests("GPUs free in this phase", str(free), "site.yml"))
    change = f"from {serving.replicas} to {wanted} replicas ({extra} more GPUs)"
    if extra <= free:
        return Advice(model.name, "scale", f"Scale it {change}: phase {phase} has them.", why, rests)
    if phase == 1 and 2 in site.phases:
        later = next((there.replicas for known, there in site.models_in(2) if known.name == model.name), 0)
        what = f"Move to phase 2, which serves {later} replicas; it needs {wanted}, and phase 1 has {free} GPUs free."
        return Advice(model.name, "phase 2", what, why, rests)
    return Advice(model.name, "buy", f"Scale it {change}: phase {phase} has {free} GPUs free.", why, rests)


def _free(site: Site, phase: Phase) -> int:
    there = sum(host.gpu_count for host in site.hosts_in(phase, "inference"))
    return there - sum(model.gpus * serving.replicas for model, serving in site.models_in(phase))


def _cache(model: Model, seen: Seen) -> Advice:
    what = (
        "Keep sessions on one replica, keep what changes at the end of prompts, give the cache room (more replicas, "
        "kv_precision: fp8)."
    )
    why = "It finds fewer prompt tokens in its cache than it used to, so the same calls cost more."
    return Advice(model.name, "mend", what, why, seen.rests("hit_rate", "hit_rate_usual", "kv_usage", "preemptions"))


def _apart(site: Site, phase: Phase, model: Model, serving: Serving, seen: Seen, *, asked: bool) -> list[Advice]:
    """Prefill and decode apart: four conditions, each of which can say no. Silent where nothing asks for it."""
    values = seen.series.values("model:ttft_p95", seen.model)
    line = trend(values)
    rises = line is not None and line.rises
    if not asked and not rises:
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
    first = "" if phase == 2 else "Move to phase 2 first, where it is possible; then d" if 2 in site.phases else ""
    if phase == 1 and not first:
        why = f"It would pay ({found.why}), and only phase 2 can do it, which this site does not have."
        return _not_apart(model, why, rests)
    gain = f"further tokens {found.together_tpot_ms:.1f} to {found.tpot_ms:.1f} ms"
    cost = (
        f"first token {found.together_ttft_ms:.0f} to {found.ttft_ms:.0f} ms, {found.transfer_ms:.0f} ms of it transfer"
    )
    what = f"{first or 'D'}ivide it into {split}: {gain}; cost: {cost}, and no more GPUs."
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
    """The fastest port between inference servers, over which caches would move."""
    hosts = site.hosts_in(max(site.phases), "inference")
    return float(max((nic.speed_gbps for host in hosts for nic in host.nics), default=25))


def _spell(line: object, step_s: float) -> str:
    slope, margin = getattr(line, "slope", None), getattr(line, "margin", 0.0)
    if slope is None:
        return "too few values"
    hourly = 3600 / step_s * 1e3
    return f"{slope * hourly:+.0f} ± {margin * hourly:.0f} ms an hour"
