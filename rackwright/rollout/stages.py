"""The eleven stages from phase 1 to phase 2, step by step: the whole rollout, to be read from top to bottom.

Each step is small enough to be looked at, done, proved and taken back by itself. What carries one out stands elsewhere
(built.py); here stands what it changes, what must be so before and after, the way back, and what is down meanwhile.
"""

from rackwright.rollout.step import Stage, Step
from rackwright.rollout.way import Way, listed, names

HOLDING = ("first-token", "further-tokens", "errors", "queue")
SHARED = "applications and tenants hold it already"


def stages(way: Way) -> tuple[Stage, ...]:
    """All of them, in order."""
    return (
        _baseline(way),
        _metal(way),
        _cluster(),
        _platform(way),
        _copy(way),
        _proof(way),
        _traffic(way),
        _cut_over(way),
        _stand_by(way),
        _no_return(way),
        _report(),
    )


def _baseline(way: Way) -> Stage:
    back_up = Step(
        name="backup",
        does="phase 1's databases and collections are backed up; one backup is restored beside them as proof, and that "
        "copy removed",
        before=("phase-1-serves",),
        after=("backup-restored",),
        reads=("postgresql.databases",),
    )
    return Stage(
        "baseline",
        "What phase 1 does today, and a copy of what it holds",
        (
            Step(
                name="figures",
                does="what phase 1 reaches under a load is kept, to be compared with phase 2",
                before=("phase-1-serves",),
                after=("baseline-recorded",),
                reads=("models of both phases", "workload"),
            ),
            *((back_up,) if way.settings.copies_data else ()),
            Step(
                name="room",
                does="versions of both phases and free space are compared; nothing is changed",
                after=("versions-fit", "space"),
                reads=("the new hosts", "models of phase 2", "postgresql", "vectors"),
            ),
        ),
    )


def _metal(way: Way) -> Stage:
    return Stage(
        "metal",
        "New machines",
        (
            Step(
                name="provision",
                does=f"{listed(names(way.new))}: from a fresh system to machines of the rack; phase 1 is left alone",
                before=("hosts-ready",),
                after=("phase-1-untouched",),
                reads=("the new hosts", "networks", "operating_system", "the driver"),
                fixed={"name": "machines, stacks and backups bear it"},
            ),
        ),
    )


def _cluster() -> Stage:
    return Stage(
        "cluster",
        "Kubernetes beside phase 1",
        (
            Step(
                name="found",
                does="a cluster is founded on the new hosts, and proved",
                back="the cluster is taken off the new hosts",
                after=("phase-1-untouched",),
                reads=("the new hosts",),
                fixed={"clusters.phase2": "a cluster keeps the addresses with which it was founded"},
            ),
        ),
    )


def _platform(way: Way) -> Stage:
    without = "; databases come with their copy" if way.settings.copies_data else ""
    return Stage(
        "platform",
        "The platform of phase 2, beside phase 1",
        (
            Step(
                name="lay",
                does="pulumi up -s phase2, on the new hosts alone; authority and tenants' keys are the vault's, as in "
                f"phase 1{without}",
                back="pulumi destroy -s phase2",
                before=("certificates-good",),
                after=("keys-equal", "phase-1-untouched"),
                reads=("models of phase 2", "postgresql", "vectors", "gateway", "tenants"),
                fixed={
                    "gateway.host": "the certificates of both doors bear it",
                    "vectors.shard_number": "collections keep the shards with which they were made",
                    "rollout.copies_data": "a database is founded either empty or as a copy",
                },
            ),
        ),
    )


def _copy(way: Way) -> Stage:
    data = (
        Step(
            name="postgresql",
            does=f"phase 2's PostgreSQL becomes a streaming copy of phase 1's ({listed(way.databases)})",
            back="the copy is thrown away; phase 1 keeps no trace of it",
            before=("versions-fit", "space"),
            after=("databases-follow",),
            reads=("postgresql",),
        ),
        Step(
            name="qdrant",
            does="collections are copied point by point, and kept in step",
            back="the copies are removed; phase 1 keeps its collections",
            before=("versions-fit", "space"),
            after=("collections-follow",),
            reads=("vectors",),
        ),
    )
    weights = Step(
        name="weights",
        does=f"weights of {listed(way.moving)} are brought onto the hosts that will serve them",
        after=("weights-there", "phase-2-serves"),
        reads=("models of phase 2", "the new hosts"),
    )
    return Stage("copy", "Data, kept in step", (*(data if way.settings.copies_data else ()), weights))


def _proof(way: Way) -> Stage:
    load = Step(
        name="load",
        does="the load of the baseline is put on phase 2's door, and compared",
        before=("phase-2-serves",),
        after=("load-carried", "phase-1-untouched"),
        reads=("models of phase 2", "workload", "targets"),
    )
    queries = Step(
        name="queries",
        does="golden queries are asked of both vector stores, and compared",
        before=("collections-follow",),
        after=("points-equal", "recall"),
        reads=("vectors",),
    )
    return Stage("proof", "Phase 2 carries the load", (load, *((queries,) if way.settings.copies_data else ())))


def _traffic(way: Way) -> Stage:
    found = [
        Step(
            name=f"share-{weight}",
            does=f"{weight} % of sessions with {listed(way.moving)} go on from phase 1's door to phase 2's, "
            f"watched for {way.settings.hold_s} s",
            back=f"{before} % of sessions go to phase 2, as before; answers that run end where they began",
            before=("certificates-good", "phase-2-serves"),
            after=HOLDING,
            reads=("rollout.weights", "models of both phases", "targets"),
            fixed={"gateway.host": SHARED},
            holds_s=way.settings.hold_s,
            takes_itself_back=True,
        )
        for before, weight in zip((0, *way.settings.weights), way.settings.weights, strict=False)
    ]
    return Stage("traffic", "Sessions move, few at first", tuple(found))


def _cut_over(way: Way) -> Stage:
    following = Step(
        name="postgresql",
        does="writes pause; the last change is replayed and compared; phase 1's PostgreSQL ends as one that will "
        "follow, phase 2's is promoted, and writes go on there",
        back="the same the other way: phase 1's is promoted again, with all that was written meanwhile",
        before=("databases-follow",),
        after=("rows-equal", "writes-go-on"),
        down="writes to databases, for at most 10 s",
        fixed={"postgresql.databases": "both sides must hold the same"},
    )
    vectors = Step(
        name="qdrant",
        does="writes to collections pause, the rest is copied and counted, and phase 2's collections take over",
        back="the same the other way",
        before=("collections-follow",),
        after=("points-equal", "writes-go-on"),
        down="writes to collections, for at most 10 s",
    )
    door = Step(
        name="door",
        does=f"{way.site.gateway.host} leads to phase 2's own door; phase 1's goes on sending what still comes to it",
        back="the name leads to phase 1's door again",
        loses="" if way.settings.copies_data else "what was written to phase 2's databases and collections meanwhile",
        before=("phase-2-serves", "certificates-good"),
        after=("errors",),
        fixed={"gateway.host": SHARED},
    )
    return Stage(
        "cut-over", "Writes go to phase 2", (*((following, vectors) if way.settings.copies_data else ()), door)
    )


def _stand_by(way: Way) -> Stage:
    follows = Step(
        name="follow",
        does="phase 1's PostgreSQL follows phase 2's, so that the way back stays open",
        after=("databases-follow",),
    )
    wait = Step(
        name="wait",
        does=f"{way.settings.stand_by_h} hours pass on phase 2, with phase 1 ready to take over again",
        after=("stood-by",),
    )
    return Stage("stand-by", "The way back stays open", (*((follows,) if way.settings.copies_data else ()), wait))


def _no_return(way: Way) -> Stage:
    old = listed(names(way.joining))
    part = Step(
        name="part",
        does="phase 1 follows no more: from here on it knows nothing of what phase 2 is told"
        + (f"; {listed(way.writing)} come to phase 2" if way.writing else ""),
        before=("stood-by", "phase-2-serves", "backup-restored" if way.settings.copies_data else "certificates-good"),
        ends_the_way_back=True,
    )
    join = (
        Step(
            name="drain",
            does=f"what runs on {old} ends, each answer after its last word",
            after=("phase-2-serves",),
            down="phase 1, for good",
        ),
        Step(
            name="clean",
            does=f"phase 1's cluster is taken off {old}; its drives keep what they have, but those named by serial "
            "number",
            after=("phase-2-serves",),
        ),
        Step(
            name="join",
            does=f"{old} is provisioned and joins phase 2",
            before=("hosts-ready",),
            after=("phase-2-serves",),
            reads=("the old hosts", "networks", "operating_system", "the driver"),
        ),
        Step(
            name="scale",
            does=f"models and stores spread onto {old}: pulumi up -s phase2, on all hosts",
            after=("phase-2-serves", *HOLDING),
            reads=("models of phase 2",),
        ),
    )
    return Stage("no-return", "Phase 1 is given up", (part, *(join if way.joining else ())))


def _report() -> Stage:
    return Stage(
        "report",
        "What phase 2 does from now on",
        (
            Step(
                name="figures",
                does="new baselines are recorded, and the report is written",
                before=("phase-2-serves",),
                after=("baseline-recorded",),
                reads=("models of phase 2", "workload"),
            ),
        ),
    )
