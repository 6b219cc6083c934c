"""The world as it is: what carries steps of a live site out. What were not here would be shown so, and not begun."""

from rackwright.rollout import data
from rackwright.rollout.ground import Ground
from rackwright.rollout.platform import wiring
from rackwright.rollout.world import World


def live(ground: Ground) -> World:
    """Acts and gates of a live site: of its machines and clusters, and of its data."""
    kept = data.world(ground)
    return World({**wiring.acts(ground), **kept.acts}, {**wiring.gates(ground), **kept.gates})
