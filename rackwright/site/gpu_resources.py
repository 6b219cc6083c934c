"""Under which names, how many times and with how much memory Kubernetes hands out the GPUs of a host."""

from rackwright.site.gpu import Gpu
from rackwright.site.hosts import Gpus
from rackwright.site.models import Model
from rackwright.site.reading.unknown import NotKnown

WHOLE = "nvidia.com/gpu"
BALANCED = "all-balanced"


def mig_profiles(gpus: Gpus) -> dict[str, int]:
    """MIG slices of one GPU by profile, e.g. {"1g.10gb": 7}; empty where GPUs are whole."""
    if gpus.mig is None:
        return {}
    layouts = gpus.variant.mig
    if gpus.mig == BALANCED and layouts:
        # The MIG manager's balanced layout: two of the smallest slices, one of each larger size that shares the GPU.
        by_size = {int(_profile(layout)[0]): _profile(layout) for layout in reversed(layouts)}
        return {by_size[1]: 2, by_size[2]: 1} | ({by_size[3]: 1} if 3 in by_size else {})
    if gpus.mig not in layouts:
        raise NotKnown
    return {_profile(gpus.mig): layouts[gpus.mig]}


def offered(gpus: Gpus, sharing: Gpu) -> dict[str, int]:
    """The resources that the device plugin offers on a host with these GPUs, and how many of each."""
    profiles = mig_profiles(gpus) if sharing.mig_strategy != "none" else {}
    if not profiles:
        return {WHOLE: gpus.count * sharing.time_slices}
    if sharing.mig_strategy == "single":
        return {WHOLE: gpus.count * sum(profiles.values())}
    return {_slice(profile): gpus.count * slices for profile, slices in profiles.items()}


def requested(model: Model, sharing: Gpu) -> str:
    """The resource that a model's pod asks for, as many times as it has GPUs."""
    return _slice(model.mig_profile) if sharing.mig_strategy == "mixed" and model.mig_profile else WHOLE


def device_gib(gpus: Gpus, profile: str | None = None) -> float:
    """Memory in GiB of what a pod gets for one GPU: a whole one or a slice; a balanced layout wants the profile."""
    profiles = mig_profiles(gpus)
    if not profiles:
        return gpus.variant.usable_gib
    if profile is None:
        profile = next(iter(profiles))
        if len(profiles) > 1:
            raise NotKnown
    elif profile not in profiles:
        raise NotKnown
    largest = max(_gb(_profile(layout)) for layout in gpus.variant.mig)
    return gpus.variant.usable_gib * round(8 * _gb(profile) / largest) / 8  # memory is cut into eighths


def _slice(profile: str) -> str:
    return f"nvidia.com/mig-{profile}"


def _profile(layout: str) -> str:
    return layout.removeprefix("all-")


def _gb(profile: str) -> int:
    return int(profile.partition(".")[2].removesuffix("gb"))
