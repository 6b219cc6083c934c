"""Whatever happens in whatever order, the same command brings a rollout to its end, and no effect comes twice."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from played_world import PlayedWorld, Ticks, in_child, lab

from rackwright.errors import Refusal
from rackwright.rollout.plan import plan

SITE = lab()
STAGES = [stage.name for stage in plan(SITE).stages[:9]]
MOMENTS = st.one_of(st.none(), st.integers(1, 330))
HAPPENS = st.lists(
    st.one_of(
        st.tuples(st.just("run"), MOMENTS, st.sampled_from(STAGES)),
        st.tuples(st.just("back"), MOMENTS, st.sampled_from([None, *STAGES])),
        st.tuples(st.just("fails"), st.sampled_from(sorted(plan(SITE).gates))),
        st.tuples(st.just("mended")),
        st.tuples(st.just("torn"), st.integers(1, 200)),
        st.tuples(st.just("lost")),
    ),
    max_size=8,
)


def happen(world, what, *rest):
    journal = world.folder / "rollout.jsonl"
    if what in ("run", "back"):
        at, stage = rest
        world.ticks = Ticks(at)

        def go():
            with suppress(Refusal):
                (world.run if what == "run" else world.back)(stage)

        assert in_child(go) in (0, -9)
        world.ticks = Ticks()
    elif what == "fails":
        world.failing = {rest[0]}
    elif what == "mended":
        world.failing = set()
    elif journal.exists():
        if what == "lost":
            journal.unlink()
        else:  # the last line alone, as a power cut tears it
            data = journal.read_bytes()
            last = data.rstrip(b"\n").rfind(b"\n") + 1
            os.truncate(journal, max(last, len(data) - rest[0]))


@settings(max_examples=40)
@given(HAPPENS)
def test_any_life_ends_well(life):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as quick:
        quick.setattr("os.fsync", lambda _: None)  # who is killed leaves what it wrote to the system
        world = PlayedWorld(Path(folder), SITE)
        for what in life:
            happen(world, *what)
        world.failing = set()
        world.run()
        assert world.done() == [place.name for place in world.plan.places]
        assert not world.twice()
