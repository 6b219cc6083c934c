"""Ways to serve a model as a table and as data."""

import math
from collections.abc import Sequence
from typing import Any

from rackwright.capacity.compare import Out, Way
from rackwright.capacity.deployment import Deployment
from rackwright.capacity.feasibility import assumed
from rackwright.capacity.tables import number, table


def compare_text(ways: Sequence[Way], out: Sequence[Out]) -> str:
    """The table for a terminal; a star marks the frontier."""
    rows = [
        (
            f"{'*' if way.on_frontier else ' '} {_name(way.replica)}",
            way.sized.needed,
            way.gpus,
            number(way.sized.state.ttft_ms),
            number(way.sized.state.tpot_ms),
            f"{way.sized.state.cache_share:.0%}",
            f"{way.sized.carries:.2g}x",
            way.sized.gives_way,
        )
        for way in ways
    ]
    head = ("way", "replicas", "GPUs", "TTFT ms", "TPOT ms", "cache", "carries", "gives way first")
    lines = [table(head, rows)] if rows else ["No way carries this load."]
    if ways:
        lines.append("* on the frontier: no other way is better in GPUs and in both times.")
    return "\n".join([*lines, *(f"out: {_name(each.replica)}: {each.why}" for each in out)])


def compare_data(ways: Sequence[Way], out: Sequence[Out]) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "ways": [
            {
                **_key(way.replica),
                "replicas": way.sized.needed,
                "gpus": way.gpus,
                "ttft_ms": _finite(way.sized.state.ttft_ms),
                "tpot_ms": _finite(way.sized.state.tpot_ms),
                "cache_share": way.sized.state.cache_share,
                "carries": _finite(way.sized.carries),
                "gives_way": way.sized.gives_way,
                "on_frontier": way.on_frontier,
                "assumed": assumed(way.replica),
            }
            for way in ways
        ],
        "out": [{**_key(each.replica), "why": each.why} for each in out],
    }


def _name(replica: Deployment) -> str:
    return f"{replica.tensor_parallel} x {replica.hardware.name} {replica.stored_precision}"


def _key(replica: Deployment) -> dict[str, Any]:
    return {
        "gpu": replica.hardware.name,
        "precision": replica.stored_precision,
        "tensor_parallel": replica.tensor_parallel,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
