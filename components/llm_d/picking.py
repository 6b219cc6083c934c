"""How a picker chooses: its EndpointPickerConfig, a pure function of the model and the site.

Plugins and parameters are those of the pinned llm-d-router, which ends at start when it is told another.
"""

from typing import Any, get_args

from rackwright.site.models import Model
from rackwright.site.priorities import of_router
from rackwright.site.routing import Routing
from rackwright.site.tenants import PriorityClass

Configuration = dict[str, Any]
API = "llm-d.ai/v1alpha1"
PREFIX, LOAD = "prefix-cache-scorer", "active-request-scorer"
STALE = "1s"  # figures are read every 50 ms: whoever has shown none for so long is gone
# How much it weighs that a replica has the prompt's beginning, and that it has little in hand. Each is a share: of the
# prompt, of the busiest replica's calls. Tried against others in benchmarks/routing.py (docs/routing.md).
PREFIX_WEIGHT, LOAD_WEIGHT = 3, 2
QUEUE_LIMIT = 64  # requests that wait in an engine; those of a whole rack never wait there, since they wait here
QUEUE_BYTES = "1Gi"


def configuration(model: Model, routing: Routing, least_tokens: int | None = None) -> Configuration:
    """What one model's picker is told; of a divided model, from how many tokens on another replica computes them."""
    weights = _weights(model)
    # Where none of a half is at ease, `alive` lets all pass that it is given. So first it finds those that compute, of
    # whom none may be left: then who answers computes. Of those that answer one always is: a full cache makes it wait.
    computes = _profile("prefill", weights, "alive", "prefill-filter")
    answers = _profile("decode", weights, "decode-filter", "alive")
    return {
        "apiVersion": API,
        "kind": "EndpointPickerConfig",
        "featureGates": ["flowControl"],
        "plugins": [
            *_always(model, routing),
            *(_plugin(kind) for kind in weights),
            *(_finding(model) if PREFIX in weights else []),
            *(_dividing(least_tokens) if least_tokens else []),
        ],
        "schedulingProfiles": [computes, answers] if least_tokens else [_profile("default", weights, "alive")],
        "flowControl": _waiting(routing),
    }


def _weights(model: Model) -> dict[str, int]:
    """What is weighed, and how much it counts.

    Recurrent layers keep their state in blocks of hundreds of tokens: prefixes are seldom found again.
    """
    return {LOAD: LOAD_WEIGHT} if model.shape.recurrent else {PREFIX: PREFIX_WEIGHT, LOAD: LOAD_WEIGHT}


def _profile(name: str, weights: dict[str, int], *filters: str) -> Configuration:
    """Who is left out, what is weighed, and the best of those that stay."""
    weighed = [{"pluginRef": kind, "weight": weight} for kind, weight in weights.items()]
    named = [{"pluginRef": each} for each in filters]
    return {"name": name, "plugins": [*named, *weighed, {"pluginRef": "max-score-picker"}]}


def _finding(model: Model) -> list[Configuration]:
    """Where a prompt's beginning is: by what the picker sent there before."""
    return [_plugin("approx-prefix-cache-producer", autoTune=True, maxPrefixTokensToMatch=model.context_length)]


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
        _plugin(decider, nonCachedTokens=least_tokens),
        _plugin("disagg-profile-handler", deciders={"prefill": decider}),
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


def _plugin(kind: str, name: str = "", **parameters: Any) -> Configuration:
    named = {"name": name} if name else {}
    return named | {"type": kind} | ({"parameters": parameters} if parameters else {})
