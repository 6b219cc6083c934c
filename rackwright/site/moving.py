"""What it costs to have a prompt computed by another replica: to compute it, and to move its cache over the network.

Formulas: docs/capacity.md. The reckoning of a whole load is rackwright.capacity's.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from rackwright.site.gpu_resources import offered, requested
from rackwright.site.hosts import Gpus, Host
from rackwright.site.known.tensors import active_parameters
from rackwright.site.models import Model
from rackwright.site.rdma_ports import rdma_gbps
from rackwright.site.site import Site

LINE_SHARE = 0.9  # of the line rate that a transfer reaches
PEAK_SHARE = 0.5  # of a GPU's teraflops in prefill; llm-d's own 15,928 tokens a second of a 32B on two H100 are 0.53
# To ask another replica at all, in ms: the request goes there and comes back whole, and each engine takes it up at its
# next step, which under load is one of 5 to 15 ms. An estimate, not measured.
ASKING_MS = 20


@dataclass(frozen=True)
class Moving:
    """One prompt of so many tokens: its cache in GB, and the ms that it takes to move that and to compute it."""

    prompt: int
    gigabytes: float
    transfer_ms: float
    prefill_ms: float

    @property
    def least_tokens(self) -> int | None:
        """Tokens to compute from which on another replica is worth asking; None where moving outlasts computing."""
        gained = (self.prefill_ms - self.transfer_ms) / self.prompt
        return math.ceil(ASKING_MS / gained) if gained > 0 else None


def moving(model: Model, prompt: int, gpus: Iterable[Gpus], gbps: float) -> Moving:
    """A prompt of a model, computed on the slowest of these GPUs and moved over one port of such a speed."""
    tokens = min(prompt, model.context_length)
    size = cache_bytes(model, tokens)
    computing = 1e3 * tokens / prefill_tokens_per_s(model, gpus)
    return Moving(tokens, size / 1e9, transfer_ms(size, gbps), computing)


def least_tokens(site: Site) -> dict[str, int]:
    """Of each divided model, from how many tokens on another replica computes them."""
    moves = {model.name: usual_move(model, site) for model, _ in site.models_in(2)}
    return {name: each.least_tokens for name, each in moves.items() if each and each.least_tokens}


def usual_move(model: Model, site: Site) -> Moving | None:
    """A usual prompt of a divided model, over the slowest host's port; None where nothing is divided or none moves."""
    hosts = servers_of(model, site)
    speeds = [rdma_gbps(host) or 0 for host in hosts]
    if model.phase2.disaggregation is None or not hosts or not all(speeds):
        return None
    return moving(model, site.workload.prompt_tokens, gpus_of(model, site), min(speeds))


def servers_of(model: Model, site: Site) -> list[Host]:
    """Hosts of phase 2 that a replica may stand on."""
    wanted = requested(model, site.gpu)
    hosts = [host for _, host in site.numbered_servers_in(2)] if 2 in site.phases else []
    return [host for host in hosts if host.gpus and wanted in offered(host.gpus, site.gpu)]


def gpus_of(model: Model, site: Site) -> list[Gpus]:
    """The GPUs of those hosts."""
    return [host.gpus for host in servers_of(model, site) if host.gpus]


def transfer_ms(size: float, gbps: float) -> float:
    """Time to move so many bytes over one port."""
    return size * 8 / (gbps * 1e9 * LINE_SHARE) * 1e3


def cache_bytes(model: Model, tokens: int) -> float:
    """Keys and values of one sequence on all GPUs of a replica; what is compressed for all heads moves once."""
    parts = 1 if model.shape.latent is not None else model.tensor_parallel
    each = model.shape.sequence_bytes(
        tokens, tensor_parallel=model.tensor_parallel, kv_bits=8 if model.kv_precision == "fp8" else 16
    )
    return each * parts


def prefill_tokens_per_s(model: Model, gpus: Iterable[Gpus]) -> float:
    """Prompt tokens that a replica works through in a second: two operations a parameter and token (2 N)."""
    slowest = min(each.known.teraflops["bfloat16"] for each in gpus)
    shape = model.shape
    used = shape.active_parameters or (active_parameters(shape) if shape.experts else shape.parameters)
    return PEAK_SHARE * slowest * 1e12 * model.gpus / (2 * used * 1e9)
