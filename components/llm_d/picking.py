"""How a picker chooses: its EndpointPickerConfig, a pure function of the model and the site.

Plugins and parameters are those of the pinned llm-d-router, which ends at start when it is told another.
"""

from collections.abc import Iterable
from typing import Any, get_args

from rackwright.site.hosts import Host
from rackwright.site.known.gpu_products import gpu_products
from rackwright.site.models import Model
from rackwright.site.priorities import of_router
from rackwright.site.routing import Routing
from rackwright.site.tenants import PriorityClass

Configuration = dict[str, Any]
API = "llm-d.ai/v1alpha1"
STALE = "1s"  # figures are read every 50 ms: whoever has shown none for so long is gone
PEAK_SHARE = 0.5  # of a GPU's teraflops in prefill; llm-d's own 15,928 tokens a second of a 32B on two H100 are 0.53
AFFINITY = 0.5  # an agent's step finds more than that of its prompt where its last step was, and less elsewhere
QUEUE_LIMIT = 64  # requests that wait in an engine; those of a whole rack never wait there, since they wait here
QUEUE_BYTES = "1Gi"


def configuration(model: Model, routing: Routing, hosts: Iterable[Host]) -> Configuration:
    """What one model's picker is told."""
    choosing = _by_load() if model.shape.recurrent else _by_prefix(model, hosts)
    plugins = [*_always(model, routing), *choosing]
    chosen_by = ["alive", *(each["type"] for each in choosing if _chooses(each["type"])), "max-score-picker"]
    return {
        "apiVersion": API,
        "kind": "EndpointPickerConfig",
        "featureGates": ["flowControl"],
        "plugins": plugins,
        "schedulingProfiles": [{"name": "default", "plugins": [{"pluginRef": name} for name in chosen_by]}],
        "flowControl": _waiting(routing),
    }


def prefill_tokens_per_s(model: Model, hosts: Iterable[Host]) -> float:
    """Prompt tokens that a replica works through in a second: two operations a parameter and token (2 N)."""
    products = [gpu_products()[host.gpus.product] for host in hosts if host.gpus]
    slowest = min(product.teraflops["bfloat16"] for product in products)
    parameters = model.shape.active_parameters or model.shape.parameters
    return PEAK_SHARE * slowest * 1e12 * model.gpus / (2 * parameters * 1e9)


def _always(model: Model, routing: Routing) -> list[Configuration]:
    """Whichever way is chosen: the dead are left out, and what is too much for all of them waits."""
    full = {"concurrencyMode": "requests", "maxConcurrency": model.sequences}
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


def _by_load() -> list[Configuration]:
    """Recurrent layers keep their state in blocks of hundreds of tokens: prefixes are seldom found again."""
    return [_plugin("token-load-scorer")]


def _by_prefix(model: Model, hosts: Iterable[Host]) -> list[Configuration]:
    """First those that have most of the prompt in their cache, unless they are so busy that it would be faster anew.

    Among them the one with the least to prefill. A wait longer than the prefill of the longest prompt is never worth
    it.
    """
    speed = prefill_tokens_per_s(model, hosts)
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
