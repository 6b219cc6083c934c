"""The world as it is: what carries steps of a live site out. What is not here is shown as not built, and not begun."""

from rackwright.rollout.world import World


def live() -> World:
    """Acts and gates of a live site: none yet."""
    return World()
