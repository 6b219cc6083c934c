"""GPUs as they are described and shared: whole, cut into slices (MIG), or in turns."""

from collections.abc import Iterator

from rackwright.site.gpu import Gpu
from rackwright.site.gpu_resources import BALANCED, mig_profiles
from rackwright.site.hosts import Host, Phase
from rackwright.site.models import Model
from rackwright.site.reading.faults import Place
from rackwright.site.reading.judge import Broken
from rackwright.site.reading.nearest import nearest
from rackwright.site.reading.shown import shown
from rackwright.site.site import Site


def gpus_exist_as_described(host: Host, place: Place) -> Iterator[Broken]:
    """A product is sold in certain sizes and joined in certain ways."""
    if host.gpus is None:
        return
    gpus, product = host.gpus, host.gpus.known
    if gpus.memory_gb not in product.memory_gb:
        sizes = " or ".join(str(size) for size in product.memory_gb)
        what = f"is {gpus.memory_gb}, and {gpus.product} is sold with {sizes}"
        yield Broken((*place, "gpus", "memory_gb"), what, f"write {sizes}")
    if gpus.link not in product.links:
        links = " or ".join(product.links)
        what = f"is {gpus.link}, and {gpus.product} has {links}"
        yield Broken((*place, "gpus", "link"), what, f"write {links}")
    elif gpus.link == "nvlink" and "pcie" in product.links and gpus.count > 1 and gpus.count % 2:
        what = f"is {gpus.count}, and link nvlink joins {gpus.product} in pairs"
        yield Broken((*place, "gpus", "count"), what, "write link: pcie, or an even count")


def mig_layouts_exist(host: Host, place: Place) -> Iterator[Broken]:
    """A product can be cut in certain ways."""
    if host.gpus is not None and host.gpus.mig is not None:
        layouts = host.gpus.known.mig_layouts(host.gpus.memory_gb)
        if host.gpus.mig not in layouts:
            product = f"{host.gpus.product} with {host.gpus.memory_gb} GB"
            yield Broken(
                (*place, "gpus", "mig"),
                f"is {shown(host.gpus.mig)}, a layout that {product} has not",
                nearest(host.gpus.mig, layouts) if layouts else "leave it out: this product cannot be cut",
            )


def gpus_are_shared_in_one_way(gpu: Gpu) -> Iterator[Broken]:
    """Slices are not shared again in turns."""
    if gpu.mig_strategy != "none" and gpu.time_slices > 1:
        yield Broken(
            ("gpu", "time_slices"),
            f"is {gpu.time_slices}, and mig_strategy {gpu.mig_strategy} shares the GPUs already",
            "set mig_strategy: none or time_slices: 1",
        )


def mig_layouts_have_a_strategy(host: Host, place: Place, gpu: Gpu) -> Iterator[Broken]:
    """Slices are offered by a strategy; a balanced layout has several sizes, which only mixed can tell apart."""
    if host.gpus is None or host.gpus.mig is None:
        return
    where = (*place, "gpus", "mig")
    if gpu.mig_strategy == "none":
        yield Broken(
            where,
            f"is {shown(host.gpus.mig)}, and gpu.mig_strategy is none, so that nothing offers the slices",
            "write mig_strategy: single (or mixed), or leave the layout out",
        )
    elif gpu.mig_strategy == "single" and host.gpus.mig == BALANCED:
        yield Broken(
            where,
            f"is {BALANCED}, slices of several sizes, and gpu.mig_strategy single knows one size",
            "write mig_strategy: mixed, or a layout of one size",
        )


def mig_strategy_has_layouts(site: Site) -> Iterator[Broken]:
    """A strategy without a layout offers nothing."""
    if site.gpu.mig_strategy != "none" and not any(host.gpus and host.gpus.mig for host in site.hosts):
        yield Broken(
            ("gpu", "mig_strategy"),
            f"is {site.gpu.mig_strategy}, and no host has a MIG layout",
            "write mig_strategy: none, or `mig:` at the GPUs that are cut",
        )


def single_slices_are_alike(site: Site, phase: Phase) -> Iterator[Broken]:
    """With the strategy single, nvidia.com/gpu must mean the same on every node that serves."""
    if site.gpu.mig_strategy != "single":
        return
    servers = [(index, host.name, host.gpus) for index, host in site.numbered_servers_in(phase) if host.gpus]
    for index, _, gpus in servers[1:]:
        _, name, first = servers[0]
        if gpus.mig != first.mig:
            yield Broken(
                ("hosts", index, "gpus", "mig"),
                f"is {gpus.mig or 'absent'}, and {name} has {first.mig or 'none'}: with gpu.mig_strategy single both "
                "are nvidia.com/gpu",
                "write one layout for all inference hosts, or mig_strategy: mixed",
            )


def shared_gpus_serve_models_of_one_gpu(model: Model, place: Place, gpu: Gpu) -> Iterator[Broken]:
    """Slices and turns of GPUs cannot be joined: NCCL wants whole ones."""
    ways = {"gpu.mig_strategy": gpu.mig_strategy != "none", "gpu.time_slices": gpu.time_slices > 1}
    for way, is_on in ways.items():
        for key in ("tensor_parallel", "pipeline_parallel"):
            if is_on and getattr(model, key) > 1:
                said = gpu.mig_strategy if way == "gpu.mig_strategy" else gpu.time_slices
                yield Broken(
                    (*place, key),
                    f"is {getattr(model, key)}, and {way} {said} shares GPUs, which cannot be joined then",
                    "write 1, or leave the GPUs whole",
                )


def turns_leave_memory_for_each(model: Model, place: Place, gpu: Gpu) -> Iterator[Broken]:
    """Pods that take turns on a GPU share its memory, and any of them may meet there."""
    most = int(100 / gpu.time_slices) / 100
    if gpu.time_slices > 1 and model.memory_fraction > most:
        yield Broken(
            (*place, "memory_fraction"),
            f"is {model.memory_fraction:g}, and with gpu.time_slices {gpu.time_slices} so many pods share one GPU",
            f"write at most {most:g}",
        )


def mig_profiles_are_offered(model: Model, place: Place, site: Site) -> Iterator[Broken]:
    """With the strategy mixed, a model names the slice that it takes; otherwise there is nothing to choose."""
    where = (*place, "mig_profile")
    if site.gpu.mig_strategy != "mixed":
        if model.mig_profile is not None:
            what = f"is {model.mig_profile}, and gpu.mig_strategy {site.gpu.mig_strategy} has no slices to choose from"
            yield Broken(where, what, "leave it out, or write mig_strategy: mixed")
        return
    offered = {profile for host in site.hosts if host.gpus for profile in mig_profiles(host.gpus)}
    if model.mig_profile is None and _is_served(model):
        what = "has no mig_profile, and with gpu.mig_strategy mixed every slice has a name of its own"
        yield Broken(place, what, f"write `mig_profile:` ({', '.join(sorted(offered))})")
    elif model.mig_profile is not None and model.mig_profile not in offered:
        what = f"is {model.mig_profile}, a slice that no host offers"
        yield Broken(where, what, nearest(model.mig_profile, sorted(offered)))


def _is_served(model: Model) -> bool:
    return bool(model.phase1.replicas or model.phase2.replicas)
