"""A picker whose pod another component makes: what it makes it of, decided as for our own."""

from typing import Any

from components.base.pods import as_nobody
from components.llm_d.pod import DRAIN_S, END_S, USER, container, of_pool
from rackwright.site.catalog import Image

MAIN = "main"  # the container to which a maker of pods adds the configuration, as a flag
AWAY_S = 15  # the only one is made anew when its node has been silent for so long; by itself it would wait 5 minutes


def lent(pool: str, *, image: Image, engines_in: str) -> dict[str, Any]:
    """The specification of a picker's pod, for a pool beside the engines."""
    gone = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
    leave = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": AWAY_S}
    return {
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": DRAIN_S + END_S,
        "securityContext": as_nobody(USER),
        "tolerations": [{"key": key, **leave} for key in gone],
        "containers": [container(image, of_pool(pool, engines_in)) | {"name": MAIN}],
    }
