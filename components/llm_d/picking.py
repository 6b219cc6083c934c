"""How a picker chooses: its EndpointPickerConfig, a pure function of the model and the site.

Plugins and parameters are those of the pinned llm-d-router, which ends at start when it is told another.
"""

from collections.abc import Iterable
from typing import Any, get_args

from rackwright.site.halves import groups
from rackwright.site.hosts import Host
from rackwright.site.models import Model
from rackwright.site.moving import prefill_tokens_per_s
from rackwright.site.priorities import of_router
from rackwright.site.routing import Routing
from rackwright.site.tenants import PriorityClass

Configuration = dict[str, Any]
API = "llm-d.ai/v1alpha1"
STALE = "1s"  # figures are read every 50 ms: whoever has shown none for so long is gone
AFFINITY = 0.5  # an agent's step finds more than that of its prompt where its last step was, and less elsewhere
QUEUE_LIMIT = 64  # requests that wait in an engine; those of a whole rack never wait there, since they wait here
QUEUE_BYTES = "1Gi"


def configuration(
    model: Model, routing: Routing, hosts: Iterable[Host], least_tokens: int | None = None
) -> Configuration:
    """What one model's picker is told; of a divided model, from how many tokens on another replica computes them."""
    choosing = _by_load() if model.shape.recurrent else _by_prefix(model, hosts)
    chosen_by = [each["type"] for each in choosing if _chooses(each["type"])]
    profiles = _divided(chosen_by) if least_tokens else {"default": chosen_by}
    return {
        "apiVersion": API,
        "kind": "EndpointPickerConfig",
        "featureGates": ["flowControl"],
        "plugins": [*_always(model, routing), *choosing, *(_dividing(least_tokens) if least_tokens else [])],
        "schedulingProfiles": [
            {"name": name, "plugins": [{"pluginRef": each} for each in ("alive", *chosen, "max-score-picker")]}
            for name, chosen in profiles.items()
        ],
        "flowControl": _waiting(routing),
    }


def _always(model: Model, routing: Routing) -> list[Configuration]:
    """Whichever way is chosen: the dead are left out, and what is too much for all of them waits."""
    full = {"concurrencyMode": "requests", "maxConcurrency": _places(model)}
    return [
        # As the first filter: nothing else ever takes the dead out of the choice.
        _plugin("utilization-detector", "alive", queueDepthThreshold=QUEUE_LIMIT, kvCacheUtilThreshold=1.0,
                metricsStalenessThreshold=STALE),
        _plugin("concurrency-detector", "full", **full),
        _plugin("priority-holdback-policy", "held-back", minCeiling=routing.batch_share),
        _plugin("round-robin-fairness-policy"),
        _plugin("fcfs-ordering-policy"),
        _plugin("inflight-load-producer"),
        _plugin("max-score-picker"),
    ]  # fmt: skip


def _places(model: Model) -> int:
    """Requests in a replica's hands at most, on average: for the router every replica of a model is one that answers.

    A request is in the hands of one that answers from its first moment on, of one that computes until its first token.
    """
    divided = model.phase2.disaggregation
    if divided is None:
        return model.sequences
    return max(1, model.sequences * divided.decode // (divided.prefill + divided.decode))


def _dividing(least_tokens: int) -> list[Configuration]:
    """First who answers is chosen; who computes is chosen only for a prompt of which that one lacks so much.

    So later turns, whose prefix is where they are answered, are computed there.
    """
    decider = "prefix-based-pd-decider"
    return [
        _plugin("decode-filter"),
        _plugin("prefill-filter"),
        _plugin("active-request-scorer"),
        _plugin(decider, nonCachedTokens=least_tokens),
        _plugin("disagg-profile-handler", deciders={"prefill": decider}),
    ]


def _divided(chosen_by: list[str]) -> dict[str, list[str]]:
    """By half: those that compute by what they have to compute, those that answer by how many they answer."""
    by_load, before = chosen_by[-1:], chosen_by[:-1]
    return {
        "prefill": ["prefill-filter", *before, *by_load],
        "decode": ["decode-filter", *before, "active-request-scorer"],
    }


def _by_load() -> list[Configuration]:
    """Recurrent layers keep their state in blocks of hundreds of tokens: prefixes are seldom found again."""
    return [_plugin("token-load-scorer")]


def _by_prefix(model: Model, hosts: Iterable[Host]) -> list[Configuration]:
    """First those that have most of the prompt in their cache, unless they are so busy that it would be faster anew.

    Among them the one with the least to prefill. A wait longer than the prefill of the longest prompt is never worth
    it.
    """
    computing = groups(model, model.phase2)[-1].model
    speed = prefill_tokens_per_s(computing, [host.gpus for host in hosts if host.gpus])
    affinity: dict[str, Any] = {
        "affinityThreshold": AFFINITY,
        "peakPrefillThroughput": round(speed),
        "maxTTFTPenaltyMs": round(1000 * model.context_length / speed),
    }
    return [
        _plugin("approx-prefix-cache-producer", autoTune=True, maxPrefixTokensToMatch=model.context_length),
        _plugin("prefix-cache-affinity-filter", **affinity),
        *_by_load(),
    ]


def _waiting(routing: Routing) -> Configuration:
    """One queue a class, and in it turns among tenants; what is too much or too late is refused with 429."""
    bands = [
        {
            "priority": of_router(each),
            "maxRequests": str(routing.queue),
            "fairnessPolicyRef": "round-robin-fairness-policy",
            "orderingPolicyRef": "fcfs-ordering-policy",
        }
        for each in get_args(PriorityClass)
    ]
    return {
        "saturationDetector": {"pluginRef": "full"},
        "usageLimitPolicyPluginRef": "held-back",
        "defaultRequestTTL": f"{routing.queue_s}s",
        "maxBytes": QUEUE_BYTES,
        "priorityBands": bands,
    }


def _chooses(kind: str) -> bool:
    return kind.endswith(("-filter", "-scorer"))


def _plugin(kind: str, name: str = "", **parameters: Any) -> Configuration:
    named = {"name": name} if name else {}
    return named | {"type": kind} | ({"parameters": parameters} if parameters else {})
