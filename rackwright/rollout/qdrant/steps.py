"""The collections' steps and gates by their names, for a site's two stores."""

from rackwright.rollout.qdrant.acts import Copy, CutOver
from rackwright.rollout.qdrant.golden import Golden
from rackwright.rollout.qdrant.kept import follow
from rackwright.rollout.qdrant.passes import Say
from rackwright.rollout.qdrant.shape import Spread
from rackwright.rollout.qdrant.store import Store
from rackwright.rollout.world import World
from rackwright.site.vectors import Vectors


def steps(old: Store, new: Store, vectors: Vectors, say: Say) -> World:
    """`copy/qdrant`, `proof/queries` and `cut-over/qdrant`; what is brought is told by `say`."""
    there, back = (
        Spread(vectors.shard_number, spread.replication_factor) for spread in (vectors.phase2, vectors.phase1)
    )
    golden = Golden(old, new, there, say)
    cut_over = CutOver(old, new, there, back, say)
    return World(
        acts={"copy/qdrant": Copy(old, new, there, say), "proof/queries": golden, "cut-over/qdrant": cut_over},
        gates={
            "collections-follow": lambda: follow(old, new),
            "proof/queries collections-follow": golden.collections_follow,
            "proof/queries points-equal": golden.points_equal,
            "recall": golden.recall,
            "cut-over/qdrant collections-follow": cut_over.collections_follow,
            "cut-over/qdrant points-equal": cut_over.points_equal,
            "cut-over/qdrant writes-go-on": cut_over.writes_go_on,
        },
    )
