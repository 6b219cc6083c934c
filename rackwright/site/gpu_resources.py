"""Under which names, and how many times, Kubernetes hands out the GPUs of a host."""

from rackwright.site.gpu import Gpu
from rackwright.site.hosts import Gpus

WHOLE = "nvidia.com/gpu"
BALANCED = "all-balanced"


def mig_profiles(gpus: Gpus) -> dict[str, int]:
    """MIG slices of one GPU by profile, e.g. {"1g.10gb": 7}; empty where GPUs are whole."""
    if gpus.mig is None:
        return {}
    layouts = gpus.known.variants[gpus.memory_gb].mig
    if gpus.mig != BALANCED:
        return {_profile(gpus.mig): layouts[gpus.mig]}
    # The MIG manager's balanced layout: two of the smallest slices, and one of each larger size that shares the GPU.
    by_size = {int(_profile(layout)[0]): _profile(layout) for layout in reversed(layouts)}
    return {by_size[1]: 2, by_size[2]: 1} | ({by_size[3]: 1} if 3 in by_size else {})


def offered(gpus: Gpus, sharing: Gpu) -> dict[str, int]:
    """The resources that the device plugin offers on a host with these GPUs, and how many of each."""
    profiles = mig_profiles(gpus) if sharing.mig_strategy != "none" else {}
    if not profiles:
        return {WHOLE: gpus.count * sharing.time_slices}
    if sharing.mig_strategy == "single":
        return {WHOLE: gpus.count * sum(profiles.values())}
    return {f"nvidia.com/mig-{profile}": gpus.count * slices for profile, slices in profiles.items()}


def _profile(layout: str) -> str:
    return layout.removeprefix("all-")
