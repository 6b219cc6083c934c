"""What is known of each GPU product, whichever site it stands in."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from rackwright.site.reading.nearest import nearest
from rackwright.site.reading.shown import shown

DATA = Path(__file__).parent / "data" / "gpus.yml"


@dataclass(frozen=True)
class Variant:
    """One size: label, PCI ids, GB/s of memory, memory as nvidia-smi and as CUDA report it, slices by MIG layout."""

    label: str
    pci: list[str]
    bandwidth_gb: float
    memory_mib: int
    usable_gib: float
    mig: dict[str, int]


@dataclass(frozen=True)
class GpuProduct:
    """A product: links and their GB/s, kernel modules that drive it, dense teraflops by precision, sizes by GB sold."""

    name: str
    family: str
    links: tuple[str, ...]
    flavours: tuple[str, ...]
    teraflops: dict[str, float]
    link_gb: dict[str, float]
    source: str
    variants: dict[int, Variant]

    @property
    def memory_gb(self) -> tuple[int, ...]:
        """Sizes in GB as sold."""
        return tuple(self.variants)

    @property
    def fuses_sums(self) -> bool:
        """Whether vLLM fuses sums over GPUs with norms here: compute capability 9.0 and 10.x (its config, 0.30)."""
        return self.family in ("hopper", "blackwell") and self.links != ("pcie",)  # Blackwell over PCIe alone is 12.0

    def mig_layouts(self, memory_gb: int) -> tuple[str, ...]:
        """Names of the MIG layouts of one size; empty where it has none."""
        variant = self.variants.get(memory_gb)
        return (*variant.mig, "all-balanced") if variant and variant.mig else ()


@cache
def gpu_products() -> dict[str, GpuProduct]:
    """All products, by name."""
    raw: dict[str, Any] = yaml.load(DATA.read_bytes(), Loader=yaml.CSafeLoader)
    return {
        name: GpuProduct(
            name=name,
            family=product["family"],
            links=tuple(product["links"]),
            flavours=tuple(product["flavours"]),
            teraflops=product["teraflops"],
            link_gb=product["link_gb"],
            source=product["source"],
            variants={size: Variant(**variant) for size, variant in product["variants"].items()},
        )
        for name, product in raw.items()
    }


def gpu_product(name: str) -> GpuProduct:
    """One product by its name; ValueError names the nearest known one."""
    products = gpu_products()
    if name not in products:
        raise ValueError(f"is {shown(name)}, a GPU product that is not known; {nearest(name, products)}")
    return products[name]
