"""A GPU as the reckoning of time sees it: bytes and operations a second, and the link to its peers."""

from dataclasses import dataclass

from rackwright.errors import Refusal
from rackwright.site.known.gpu_products import GpuProduct, gpu_product
from rackwright.site.known.tensors import BITS_PER_PARAMETER

PREFERRED_LINKS = ("nvswitch", "nvlink", "pcie")


@dataclass(frozen=True)
class Hardware:
    """One GPU; bytes a second of memory and of its link in one direction, operations a second by precision."""

    name: str
    family: str
    usable_gib: float
    bandwidth: float
    compute: dict[str, float]
    link: str
    link_bandwidth: float
    fuses_sums: bool

    def operations(self, precision: str) -> float:
        """Dense operations a second that matrices in a precision reach at most; what has no unit runs in 16 bits."""
        return self.compute[computed_in(precision, self.compute)]


def computed_in(precision: str, compute: dict[str, float]) -> str:
    """The precision that the tensor cores compute in, for weights in another."""
    if precision in ("fp8", "int8"):
        return precision if precision in compute else "bfloat16"
    if precision == "nvfp4":
        return "fp4" if "fp4" in compute else "bfloat16"
    if precision == "mxfp4":  # with activations in 8 bits where there are units for it, else unpacked to 16
        return "fp8" if "fp4" in compute else "bfloat16"
    if precision not in BITS_PER_PARAMETER:
        raise Refusal(f"{precision!r} is not a precision.", f"Write one of {', '.join(BITS_PER_PARAMETER)}.")
    return "bfloat16"


def hardware(name: str, *, memory_gb: int | None = None, link: str | None = None) -> Hardware:
    """A GPU by the product's name, in its largest size and with its fastest link by default; Refusal for none known."""
    try:
        product = gpu_product(name)
    except ValueError as error:
        what, _, cure = str(error).partition("; ")
        raise Refusal(f"The GPU {what}.", f"{cure[:1].upper()}{cure[1:]}") from None
    size = memory_gb or max(product.variants)
    if size not in product.variants:
        sizes = " or ".join(str(each) for each in product.variants)
        raise Refusal(f"{name} is not sold with {size} GB.", f"Write {sizes}.")
    chosen = link or next(each for each in PREFERRED_LINKS if each in product.link_gb)
    if chosen not in product.link_gb:
        raise Refusal(f"{name} has no link {chosen}.", f"Write {' or '.join(product.link_gb)}.")
    return _of(product, size, chosen)


def _of(product: GpuProduct, size: int, link: str) -> Hardware:
    variant = product.variants[size]
    return Hardware(
        name=product.name,
        family=product.family,
        usable_gib=variant.usable_gib,
        bandwidth=variant.bandwidth_gb * 1e9,
        compute={precision: value * 1e12 for precision, value in product.teraflops.items()},
        link=link,
        link_bandwidth=product.link_gb[link] * 1e9,
        fuses_sums=product.fuses_sums,
    )
