"""Advice about one model: whether it is fine, wants replicas, another phase, or prefill and decode apart."""

from collections.abc import Sequence

from rackwright.advice.advice import Advice, Rests
from rackwright.advice.divided import divided
from rackwright.advice.seen import Seen
from rackwright.capacity.site_plan import replica_in
from rackwright.capacity.sizing import HEADROOM, needed
from rackwright.capacity.timing import Timing
from rackwright.observe.judge import Fired
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
    said += divided(site, phase, model, serving, seen, asked=DEGRADED in lasting)
    if not any(each.calls_for_action for each in said):
        said.insert(0, _fine(model, seen, fired))
    return said


def _fine(model: Model, seen: Seen, fired: Sequence[Fired]) -> Advice:
    holds = sorted({each.trigger.name for each in fired if each.lasts})
    over = sorted({each.trigger.name for each in fired} - set(holds))
    why = f"{', '.join(holds)} holds, and nothing follows from it." if holds else "No trigger holds now."
    if over:
        why += f" {', '.join(over)} did and is over."
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
    return _more(site, phase, model, serving, seen, wanted, why, rests)


def _more(
    site: Site,
    phase: Phase,
    model: Model,
    serving: Serving,
    seen: Seen,
    wanted: int,
    why: str,
    rests: tuple[Rests, ...],
) -> Advice:
    """More replicas: here where GPUs are free, in phase 2 where they are not and that has them, else from a shop."""
    extra = (wanted - serving.replicas) * model.gpus
    free = _free(site, phase)
    rests = (*rests, Rests("GPUs free in this phase", str(free), "site.yml"))
    change = f"from {serving.replicas} to {wanted} replicas ({extra} more GPUs)"
    if extra <= free:
        return Advice(model.name, "scale", f"Scale it {change}: phase {phase} has them.", why, rests)
    if phase == 1 and 2 in site.phases:
        return _phase_2(site, model, seen, why, rests)
    return Advice(model.name, "buy", f"Scale it {change}: phase {phase} has {free} GPUs free.", why, rests)


def _phase_2(site: Site, model: Model, seen: Seen, why: str, rests: tuple[Rests, ...]) -> Advice:
    """Whether phase 2 carries it as it is planned, with more replicas, or only with more GPUs."""
    asked = seen.demand()
    wanted = needed(Timing(replica_in(site, 2, model)), asked, site.targets) if asked else 0
    planned = next((there.replicas for known, there in site.models_in(2) if known.name == model.name), 0)
    room = planned + _free(site, 2) // model.gpus
    rests = (
        *rests,
        Rests("Replicas needed in phase 2", f"{wanted}, of {planned} planned, {room} possible", "site.yml"),
    )
    if wanted == 0:
        what = "Shorten prompts or raise targets: no number of phase 2's replicas meets them either."
        return Advice(model.name, "mend", what, why, rests)
    if wanted <= planned:
        what = f"Move to phase 2: its {planned} replicas carry this, phase 1 has no GPUs for more."
    elif wanted <= room:
        what = f"Move to phase 2 with {wanted} replicas instead of {planned}: it has the GPUs, phase 1 has not."
    else:
        more = (wanted - room) * model.gpus
        what = f"Move to phase 2, and give it {more} more GPUs: it holds {room} of {wanted} replicas."
    return Advice(model.name, "phase 2", what, why, rests)


def _free(site: Site, phase: Phase) -> int:
    there = sum(host.gpu_count for host in site.hosts_in(phase, "inference"))
    return there - sum(each.model.gpus * each.serving.replicas for each in site.groups_in(phase))


def _cache(model: Model, seen: Seen) -> Advice:
    what = (
        "Keep sessions on one replica, keep what changes at the end of prompts, give the cache room (more replicas, "
        "kv_precision: fp8)."
    )
    why = "It finds fewer prompt tokens in its cache than it used to, so the same calls cost more."
    return Advice(model.name, "mend", what, why, seen.rests("hit_rate", "hit_rate_usual", "kv_usage", "preemptions"))
