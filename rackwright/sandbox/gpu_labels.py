"""The labels that node and GPU feature discovery and the GPU operator write on a GPU node."""

from rackwright.site.catalog import Driver
from rackwright.site.gpu import Gpu
from rackwright.site.gpu_resources import WHOLE, mig_profiles
from rackwright.site.hosts import Gpus

PREFIX = "nvidia.com"
FAMILIES = {"ada": "ada-lovelace"}  # where discovery's word differs from ours
COMPUTE_BY_FAMILY = {"ampere": (8, 0), "ada": (8, 9), "hopper": (9, 0), "blackwell": (10, 0)}
COMPUTE_BY_PRODUCT = {"b300_sxm": (10, 3), "rtx_pro_6000_blackwell": (12, 0)}
OPERANDS = (
    "container-toolkit",
    "dcgm",
    "dcgm-exporter",
    "device-plugin",
    "gpu-feature-discovery",
    "node-status-exporter",
    "operator-validator",
)


def gpu_labels(gpus: Gpus, sharing: Gpu, driver: Driver) -> dict[str, str]:
    """What follows from the site; the machine's own facts (CUDA's version, its board) are left out, not guessed."""
    return {
        "feature.node.kubernetes.io/pci-10de.present": "true",
        f"{PREFIX}/mig.capable": _spell(bool(gpus.known.mig_layouts(gpus.memory_gb))),
        f"{PREFIX}/mps.capable": "false",
        **_operator(gpus),
        **_driver(driver.version),
        **_whole(gpus, sharing),
        **_slices(gpus, sharing),
    }


def _operator(gpus: Gpus) -> dict[str, str]:
    labels = {f"{PREFIX}/gpu.present": "true", f"{PREFIX}/gpu.deploy.driver": "pre-installed"}
    labels |= {f"{PREFIX}/gpu.deploy.{operand}": "true" for operand in OPERANDS}
    if gpus.known.mig_layouts(gpus.memory_gb):
        labels |= {
            f"{PREFIX}/gpu.deploy.mig-manager": "true",
            f"{PREFIX}/mig.config": gpus.mig or "all-disabled",
            f"{PREFIX}/mig.config.state": "success",
        }
    return labels


def _driver(version: str) -> dict[str, str]:
    major, minor, revision = (*version.split("."), "")[:3]
    return {
        f"{PREFIX}/cuda.driver.major": major,
        f"{PREFIX}/cuda.driver.minor": minor,
        f"{PREFIX}/cuda.driver.rev": revision,
        f"{PREFIX}/cuda.driver-version.major": major,
        f"{PREFIX}/cuda.driver-version.minor": minor,
        f"{PREFIX}/cuda.driver-version.revision": revision,
        f"{PREFIX}/cuda.driver-version.full": version,
    }


def _whole(gpus: Gpus, sharing: Gpu) -> dict[str, str]:
    product, variant = gpus.known, gpus.known.variants[gpus.memory_gb]
    major, minor = COMPUTE_BY_PRODUCT.get(product.name) or COMPUTE_BY_FAMILY[product.family]
    shared = sharing.time_slices > 1
    return {
        f"{WHOLE}.product": f"{variant.label}-SHARED" if shared else variant.label,
        f"{WHOLE}.count": str(gpus.count),
        f"{WHOLE}.replicas": str(sharing.time_slices),
        f"{WHOLE}.sharing-strategy": "time-slicing" if shared else "none",
        f"{WHOLE}.memory": str(variant.memory_mib),
        f"{WHOLE}.family": FAMILIES.get(product.family, product.family),
        f"{WHOLE}.compute.major": str(major),
        f"{WHOLE}.compute.minor": str(minor),
    }


def _slices(gpus: Gpus, sharing: Gpu) -> dict[str, str]:
    """What MIG adds; `single` writes over the labels of whole GPUs, `mixed` adds a set for each profile."""
    if sharing.mig_strategy == "none":
        return {}
    labels: dict[str, str] = {f"{PREFIX}/mig.strategy": sharing.mig_strategy}
    for profile, slices in mig_profiles(gpus).items():
        resource = WHOLE if sharing.mig_strategy == "single" else f"{PREFIX}/mig-{profile}"
        gigabytes = profile.partition(".")[2].removesuffix("gb")
        labels |= {
            f"{resource}.product": f"{gpus.known.variants[gpus.memory_gb].label}-MIG-{profile}",
            f"{resource}.count": str(gpus.count * slices),
            f"{resource}.replicas": "1",
            f"{resource}.sharing-strategy": "none",
            f"{resource}.memory": str(int(gigabytes) * 1024),  # nominal; discovery reports a few percent less
            f"{resource}.slices.gi": profile[0],
            f"{resource}.slices.ci": profile[0],
        }
    if sharing.mig_strategy == "mixed" and mig_profiles(gpus):
        labels[f"{WHOLE}.replicas"] = "0"  # as discovery writes it where every GPU is cut
    return labels


def _spell(truth: bool) -> str:
    return "true" if truth else "false"
