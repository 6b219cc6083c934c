"""How long a model may take to start and to stop."""

import math

from rackwright.site.models import Model

DISK_GIB_S = 1.0  # what one slow NVMe drive reads while others read it too
DISK_MARGIN = 1.5
COMPILE_S = 600  # kernels, CUDA graphs and the memory profile, on a first start with nothing cached
DOWNLOAD_GIB_S = 0.05
STARTUP_PERIOD_S = 10

LEAVE_S = 15  # until every proxy has heard that the pod is going
DRAIN_S = 300  # for requests in flight: 6,000 tokens at 50 ms each
END_S = 15


def startup_s(model: Model, hosts: int = 1) -> int:
    """Seconds that the engine may take until it answers, after its weights lie on the disk; whole periods of its probe.

    Where a replica takes several hosts each reads its own stages: files are mapped, and what is not asked for stays.
    """
    reading = model.weights_gib / hosts / DISK_GIB_S * DISK_MARGIN
    return math.ceil((reading + COMPILE_S) / STARTUP_PERIOD_S) * STARTUP_PERIOD_S


def rollout_s(model: Model) -> int:
    """Seconds until a rollout without progress counts as failed: the weights may have to come first."""
    return math.ceil(model.weights_gib / DOWNLOAD_GIB_S) + 2 * startup_s(model)


def grace_s() -> int:
    """Seconds between the order to end and the end by force."""
    return LEAVE_S + DRAIN_S + END_S
