"""How many kernels run one after the other in a step: each takes some microseconds, however little it does."""

from rackwright.capacity.deployment import Deployment
from rackwright.site.known.architectures import Architecture

ATTENTION = 7  # norm, query-key-value product, rotation, write to the cache, attention, its reduction, output product
LATENT = 12  # norm, compression, two norms, expansion, rotation, write, two absorbed products, attention, its end, out
INDEXER = 6  # query and key products, norm, rotation, scores, selection
RECURRENT = 8  # norm, two products in, convolution, gates, state, gated norm, product out
DENSE = 4  # norm, up product, activation, down product
EXPERTS = 9  # norm, router, selection, two of sorting, two products, activation, sum
SHARED = 3  # up product, activation, down product
FUSED_EXPERTS = 6  # Blackwell: router, selection with sorting, products with activation and sum
WIDTH_NORM = 3  # variance, its sum over the GPUs, application
PCIE_COLLECTIVE = 4  # a collective over PCIe lasts as long as so many kernels


def kernels(replica: Deployment) -> float:
    """Kernels of one step over all layers."""
    shape = replica.shape
    blackwell = replica.hardware.family == "blackwell"
    mixers = shape.caching_layers * _attention(replica, blackwell)
    if shape.recurrent is not None:
        mixers += shape.recurrent.layers * RECURRENT
    return mixers + _mlps(replica, blackwell) + collectives(shape) * _collective(replica, blackwell)


def collectives(shape: Architecture) -> int:
    """Sums over all GPUs of a tensor-parallel group in one step: one after each mixer and each MLP."""
    mixers = shape.caching_layers + (shape.recurrent.layers if shape.recurrent else 0)
    return mixers + mlp_layers(shape)


def mlp_layers(shape: Architecture) -> int:
    """Layers with an MLP or experts."""
    return shape.layers if shape.mlp_layers is None else shape.mlp_layers


def _attention(replica: Deployment, blackwell: bool) -> int:
    shape = replica.shape
    count = LATENT if shape.latent is not None else ATTENTION
    count += INDEXER if shape.indexer is not None else 0
    count += {"none": 0, "head": 1, "width": WIDTH_NORM}[shape.query_norm] + (1 if shape.query_gate else 0)
    return count + _quantisations(replica, blackwell)


def _quantisations(replica: Deployment, blackwell: bool) -> int:
    """Kernels that bring activations into 8 or 4 bits: by block before each product, else fused with the norm."""
    if replica.stored_precision not in ("fp8", "int8", "nvfp4") or not _quantises_linear(replica):
        return 0
    if _by_block(replica):
        return 3 if replica.shape.latent is not None else 2
    return 0 if blackwell else 1


def _quantises_linear(replica: Deployment) -> bool:
    return replica.stored_precision in ("fp8", "int8") or replica.shape.experts is None


def _by_block(replica: Deployment) -> bool:
    return replica.stored_precision == "fp8" and replica.shape.native_precision == "fp8"


def _mlps(replica: Deployment, blackwell: bool) -> int:
    shape = replica.shape
    mixed = shape.experts.layers if shape.experts else 0
    count = (mlp_layers(shape) - mixed) * DENSE
    if shape.experts is None:
        return count
    each = FUSED_EXPERTS if blackwell else EXPERTS + (2 if _by_block(replica) else 0)
    return count + mixed * (each + (SHARED if shape.experts.shared_intermediate else 0))


def _collective(replica: Deployment, blackwell: bool) -> float:
    if replica.tensor_parallel == 1:
        return 0.0
    if replica.hardware.link == "pcie":
        return float(PCIE_COLLECTIVE)
    return 0.0 if blackwell else 1.0  # Blackwell: fused with the norm that follows
