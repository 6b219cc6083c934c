"""Gates: what must be so before or after a step, in words and figures for a site, and how one is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rackwright.rollout.way import Way

LAG_MIB = 16  # what a busy server writes in a moment; more means that the copy does not keep up
REFUSED_S = 10  # of writes, in the cut-over
RECALL = 0.99
SPARE = 1.2  # times what is there now
WORSE = 1.1  # times the baseline
DAYS = 7  # that certificates must still be good for


@dataclass(frozen=True)
class Reading:
    """What a gate saw, beside what it wants; both are words with their figures, never a secret.

    `is_unseen`: it could look, and there was nothing to be seen yet. A step that is held waits for it to its end.
    """

    passed: bool
    seen: str
    wanted: str
    is_unseen: bool = False


Gate = Callable[[], Reading]


def gates(way: Way) -> Mapping[str, str]:
    """Every gate by its name: what it wants."""
    site, targets = way.site, way.site.targets
    return {
        "phase-1-serves": "the checks of `rackwright check --phase 1` pass",
        "phase-2-serves": "the checks of `rackwright check --phase 2` pass",
        "phase-1-untouched": "requests to phase 1 fail no more often than before",
        "baseline-recorded": f"figures of {len(site.models_in(1))} models, not older than a day",
        "backup-restored": "a backup of today was restored, and its rows were counted",
        "versions-fit": "one release of PostgreSQL and of Qdrant in both phases",
        "space": f"on the new hosts {SPARE:g} times the room that data and weights take now",
        "hosts-ready": "preflight forbids nothing on any of them",
        "certificates-good": f"doors show certificates of the vault's authority, good for {DAYS} days more",
        "keys-equal": f"the keys of {len(site.tenants)} tenants open both doors",
        "databases-follow": f"the copy streams, and lacks at most {LAG_MIB} MiB",
        "collections-follow": "every collection of phase 1 is there, with its points",
        "weights-there": f"weights of {len(way.moving)} models lie on every host that serves them",
        "rows-equal": "rows are equal in both and no sequence is behind, at one position of the log",
        "points-equal": "points are equal in both",
        "recall": f"golden queries find {RECALL:.0%} of what phase 1 finds",
        "load-carried": f"P95 and throughput at most {WORSE:g} times worse than the baseline",
        "first-token": f"P95 of the first token at most {targets.ttft_p95_ms:g} ms",
        "further-tokens": f"P95 of a further token at most {targets.tpot_p95_ms:g} ms",
        "errors": "no answer of phase 2 is a server's fault",
        "queue": "as few wait as the alert QueueTooLong allows",
        "writes-go-on": f"writes are taken again, after at most {REFUSED_S} s",
        "stood-by": f"{way.settings.stand_by_h} hours on phase 2 without an alert",
    }
