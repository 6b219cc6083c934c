"""What the way from phase 1 to phase 2 asks of the rest of the site."""

from collections.abc import Iterator

from rackwright.site.monitoring import Monitoring
from rackwright.site.reading.judge import Broken
from rackwright.site.rollout import Rollout
from rackwright.site.site import Site

SCRAPES = 4  # a rate wants two, and a percentile of one rate is no percentile


def rollout_has_both_phases(site: Site) -> Iterator[Broken]:
    """There is no way from or to a phase that the site does not have."""
    if site.rollout is not None and site.phases != (1, 2):
        missing = 1 if 1 not in site.phases else 2
        yield Broken(
            ("rollout",),
            f"is described, and the site has no clusters.phase{missing}",
            f"describe clusters.phase{missing}, or take rollout out",
        )


def held_steps_are_seen(rollout: Rollout | None, monitoring: Monitoring) -> Iterator[Broken]:
    """A step of traffic is judged by figures, of which there must be some."""
    least = SCRAPES * monitoring.scrape_interval_s
    if rollout is not None and rollout.hold_s < least:
        yield Broken(
            ("rollout", "hold_s"),
            f"is {rollout.hold_s}, in which figures scraped each {monitoring.scrape_interval_s} s say nothing yet",
            f"write at least {least}, or a shorter monitoring.scrape_interval_s",
        )
