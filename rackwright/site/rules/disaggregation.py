"""A model whose prompts are computed apart: what the network must carry, and what both halves must have in common."""

from collections.abc import Iterator

from rackwright.site.halves import groups
from rackwright.site.models import Model
from rackwright.site.moving import ASKING_MS, Moving, gpus_of, moving, servers_of, usual_move
from rackwright.site.rdma_ports import ROCE_GBPS, rdma_gbps
from rackwright.site.reading.faults import Place
from rackwright.site.reading.judge import Broken
from rackwright.site.reading.nearest import listed
from rackwright.site.site import Site
from rackwright.site.splitting import legal_tensor_parallel, longest_context, tensor_parallel_that_fits

OUT = "take disaggregation out: each replica then does both"


def halves_are_the_replicas(model: Model, place: Place) -> Iterator[Broken]:
    """Each replica is of one half."""
    divided = model.phase2.disaggregation
    if divided is not None and divided.prefill + divided.decode != model.phase2.replicas:
        total = divided.prefill + divided.decode
        yield Broken(
            (*place, "phase2", "replicas"),
            f"is {model.phase2.replicas}, and disaggregation divides {total} ({divided.prefill} prefill, "
            f"{divided.decode} decode)",
            f"write {total}",
        )


def caches_move_by_rdma(model: Model, place: Place, site: Site) -> Iterator[Broken]:
    """Over TCP a cache moves at a tenth of the line and less; 25 GbE would be too slow even at all of it."""
    if model.phase2.disaggregation is None:
        return
    for host in servers_of(model, site):
        if rdma_gbps(host) is None:
            fastest = max(nic.speed_gbps for nic in host.nics)
            at_best = moving(model, site.workload.prompt_tokens, gpus_of(model, site), fastest)
            yield Broken(
                (*place, "phase2", "disaggregation"),
                f"is set, and {host.name} has no port of {ROCE_GBPS} Gbit/s or more on the storage network, by which "
                f"alone caches move; at best, over its fastest port ({fastest} Gbit/s), {_said(at_best)}",
                f"give the hosts that serve ports of {ROCE_GBPS} Gbit/s on networks.storage, or {OUT}",
            )
            return


def moving_is_faster_than_computing(model: Model, place: Place, site: Site) -> Iterator[Broken]:
    """Where the cache takes longer to come than the prompt to compute, every first token comes later for it."""
    found = usual_move(model, site)
    if found is not None and found.least_tokens is None:
        yield Broken(
            (*place, "phase2", "disaggregation"),
            f"is set, and over the slowest host's port {_said(found)}",
            f"write kv_precision: fp8 or a lower tensor_parallel, take faster ports, or {OUT}",
        )


def prompts_are_worth_moving(model: Model, place: Place, site: Site) -> Iterator[Broken]:
    """Short prompts are computed in less time than it takes to ask another replica."""
    found = usual_move(model, site)
    if found is not None and found.least_tokens is not None and found.prompt < found.least_tokens:
        yield Broken(
            (*place, "phase2", "disaggregation"),
            f"is set, and prompts are short (workload.prompt_tokens {site.workload.prompt_tokens}): to ask another "
            f"replica takes {ASKING_MS} ms, {_said(found)}; it is worth it from {found.least_tokens} tokens on",
            OUT,
        )


def halves_keep_their_caches_alike(model: Model, place: Place) -> Iterator[Broken]:
    """A GPU that answers reads whole heads out of one GPU that computed: their layouts must divide evenly."""
    divided = model.phase2.disaggregation
    split = divided.prefill_tensor_parallel if divided is not None else None
    if split is None or model.tensor_parallel not in legal_tensor_parallel(model.shape):
        return
    fit = [each for each in legal_tensor_parallel(model.shape) if model.tensor_parallel % each == 0]
    if split not in fit:
        yield Broken(
            (*place, "phase2", "disaggregation", "prefill_tensor_parallel"),
            f"is {split} beside tensor_parallel {model.tensor_parallel}: the halves would keep the KV cache in unequal "
            "layouts, of which one cannot read the other",
            f"write one of {', '.join(map(str, fit))}, or leave it out",
        )


def halves_stand_on_gpus_of_one_family(model: Model, place: Place, site: Site) -> Iterator[Broken]:
    """The engine chooses its kernels, and so how a cache is laid out, by the GPU; it refuses another's."""
    if model.phase2.disaggregation is None:
        return
    hosts = {host.gpus.known.family: host for host in reversed(servers_of(model, site)) if host.gpus}
    if len(hosts) > 1:
        said = listed(f"{host.name} {family}" for family, host in hosts.items())
        yield Broken(
            (*place, "phase2", "disaggregation"),
            f"is set, and replicas may stand on GPUs of several families ({said}), whose engines keep the KV cache in "
            "unequal layouts",
            f"let hosts of one family alone serve, or {OUT}",
        )


def halves_fit_on_every_server(model: Model, place: Place, site: Site) -> Iterator[Broken]:
    """A prefill replica holds the weights and the longest prompt, as one that answers does."""
    divided = model.phase2.disaggregation
    if divided is None or divided.prefill_tensor_parallel is None:
        return
    beside = groups(model, model.phase2)[1].model
    if beside.tensor_parallel not in legal_tensor_parallel(model.shape):
        return  # that fault is said already
    for gpus in gpus_of(model, site):
        longest = longest_context(beside, gpus)
        if longest < min(model.context_length, model.shape.context_length):
            fits = tensor_parallel_that_fits(beside, gpus, model.tensor_parallel)
            yield Broken(
                (*place, "phase2", "disaggregation", "prefill_tensor_parallel"),
                f"is {beside.tensor_parallel}, where the cache holds a prompt of {longest} on {gpus.product} "
                f"{gpus.memory_gb} GB, and context_length is {model.context_length}",
                f"write {fits}, or leave it out" if fits else "leave it out",
            )
            return


def divided_models_keep_keys_and_values(model: Model, place: Place) -> Iterator[Broken]:
    """The router's decider asks for prefixes that are found again, which recurrent layers seldom let it."""
    if model.phase2.disaggregation is not None and model.shape.recurrent is not None:
        yield Broken(
            (*place, "phase2", "disaggregation"),
            f"is set, and {model.shape.recurrent.layers} of the model's layers are recurrent: their prefixes are "
            "seldom found again, so that the router cannot tell what is still to be computed",
            OUT,
        )


def divided_models_have_one_stage(model: Model, place: Place) -> Iterator[Broken]:
    """The engine's connector refuses to take caches in over several stages (vLLM 0.30, nixl/base_worker.py)."""
    if model.phase2.disaggregation is not None and model.pipeline_parallel > 1:
        yield Broken(
            (*place, "phase2", "disaggregation"),
            f"is set, and pipeline_parallel is {model.pipeline_parallel}: an engine of several stages takes no "
            "cache in",
            f"write pipeline_parallel: 1, or {OUT}",
        )


def caches_leave_gpus_by_the_open_driver(model: Model, place: Place, site: Site) -> Iterator[Broken]:
    """A port reads a GPU's memory through DMA-BUF, which only the open kernel module offers."""
    if model.phase2.disaggregation is not None and site.gpu.driver_flavour != "open":
        yield Broken(
            (*place, "phase2", "disaggregation"),
            f"is set, and gpu.driver_flavour is {site.gpu.driver_flavour}, by which no port reads a GPU's memory",
            f"write driver_flavour: open, or {OUT}",
        )


def divided_models_are_our_own(model: Model, place: Place) -> Iterator[Broken]:
    """KServe would make both halves after templates of its own, for another engine than the pinned one."""
    if model.phase2.disaggregation is not None and model.phase2.through != "llm_d":
        yield Broken(
            (*place, "phase2", "disaggregation"),
            f"is set, and the model is served through {model.phase2.through}, which would divide it in its own way",
            f"take `through: {model.phase2.through}` out, or {OUT}",
        )


def _said(found: Moving) -> str:
    return (
        f"the cache of a prompt of {found.prompt} tokens, {found.gigabytes:.2g} GB, moves in "
        f"{found.transfer_ms:.0f} ms, and the prompt is computed in {found.prefill_ms:.0f} ms"
    )
