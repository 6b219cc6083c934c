"""Weights and one whole context fit into the GPUs that a replica may land on."""

from collections.abc import Iterator

from rackwright.site.gpu_resources import device_gib, offered, requested
from rackwright.site.halves import prefill_name
from rackwright.site.hosts import Gpus, Phase
from rackwright.site.memory import kv_pool_gib
from rackwright.site.models import Model
from rackwright.site.reading.faults import Place
from rackwright.site.reading.judge import Broken
from rackwright.site.site import Site
from rackwright.site.splitting import legal_tensor_parallel, longest_context, tensor_parallel_that_fits


def model_fits_on_every_server(model: Model, place: Place, site: Site) -> Iterator[Broken]:
    """A replica may land on any inference host of its phase, so it fits on the smallest of their GPUs."""
    if model.tensor_parallel not in legal_tensor_parallel(model.shape):
        return  # that fault is said already, and its figures would be nonsense
    seen: set[Gpus] = set()
    for phase in site.phases:
        for gpus in _gpus(site, phase, model):
            if gpus not in seen:
                seen.add(gpus)
                yield from _too_large(model, place, gpus)


def shared_memory_suffices(model: Model, place: Place, site: Site) -> Iterator[Broken]:
    """NCCL wants 1 GiB of shared memory for each GPU of a pod, and crashes without; a pod is on one host."""
    told, names = model.shared_memory_gib, {model.name, prefill_name(model.name)}
    pods = [each.part for phase in site.phases for each in site.groups_in(phase) if each.model.name in names]
    gpus = max((pod.gpus for pod in pods), default=1)
    if told is not None and gpus > 1 and told < gpus:
        yield Broken(
            (*place, "shared_memory_gib"),
            f"is {told}, and {gpus} GPUs on one host want 1 GiB each",
            f"write {gpus} or more, or leave it out ({gpus + 1})",
        )


def _gpus(site: Site, phase: Phase, model: Model) -> Iterator[Gpus]:
    served = model.in_phase(phase)
    wanted = requested(model, site.gpu)
    for _, host in site.numbered_servers_in(phase) if served.replicas else ():
        if host.gpus and wanted in offered(host.gpus, site.gpu):
            yield host.gpus


def _too_large(model: Model, place: Place, gpus: Gpus) -> Iterator[Broken]:
    longest = longest_context(model, gpus)
    if longest >= min(model.context_length, model.shape.context_length):
        return
    pool, usable = kv_pool_gib(model, gpus), device_gib(gpus, model.mig_profile)
    device = f"{gpus.product} {gpus.memory_gb} GB" + (f" ({model.mig_profile or gpus.mig})" if gpus.mig else "")
    share = (
        f"the {usable * model.memory_fraction:.1f} GiB that memory_fraction {model.memory_fraction:g} takes of {device}"
    )
    each = model.weights_gib / model.gpus
    if pool <= 0 or longest == 0:
        what = (
            f"is {model.tensor_parallel}: weights of {model.weights_gib:.1f} GiB are {each:.1f} GiB a GPU, and with "
            f"the engine's buffers more than {share}"
        )
        yield Broken((*place, "tensor_parallel"), what, _cure(model, gpus))
        return
    what = (
        f"is {model.context_length}, and the KV cache holds one sequence of {longest}: {pool:.1f} GiB a GPU, which is "
        f"what weights of {each:.1f} GiB and buffers leave of {share}"
    )
    yield Broken((*place, "context_length"), what, f"write at most {longest}, or {_cure(model, gpus)}")


def _cure(model: Model, gpus: Gpus) -> str:
    fits = None if gpus.mig else tensor_parallel_that_fits(model, gpus, gpus.count)
    if fits:
        return f"write tensor_parallel: {fits}"
    return "take a smaller precision of the weights, kv_precision: fp8, a smaller model or larger GPUs"
