"""The databases' steps and gates by their names, for a site's two clusters."""

from collections.abc import Sequence

from rackwright.rollout.gates import Reading
from rackwright.rollout.postgres.acts import Copy, CutOver, FollowBack
from rackwright.rollout.postgres.clusters import ClusterPair
from rackwright.rollout.postgres.pair import lag
from rackwright.rollout.postgres.part import Part
from rackwright.rollout.world import World


def steps(pair: ClusterPair, databases: Sequence[str]) -> World:
    """`copy/postgresql`, `cut-over/postgresql`, `stand-by/follow` and `no-return/part`."""
    cut_over = CutOver(pair, databases)
    return World(
        acts={
            "copy/postgresql": Copy(pair),
            "cut-over/postgresql": cut_over,
            "stand-by/follow": FollowBack(pair),
            "no-return/part": Part(pair),
        },
        gates={
            "databases-follow": lambda: _followed(pair),
            "rows-equal": cut_over.rows_equal,
            "cut-over/postgresql writes-go-on": cut_over.writes_go_on,
        },
    )


def _followed(pair: ClusterPair) -> Reading:
    """With the certificates of today: a follower whose own ran out meanwhile does not come in again."""
    pair.renew()
    return lag(pair)
