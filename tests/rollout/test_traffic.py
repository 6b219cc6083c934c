"""The steps of traffic with a played door: a share is put, watched, and taken back by itself when a gate fails."""

import pytest
from played_world import PlayedWorld, lab

from rackwright.errors import Refusal
from rackwright.rollout.journal import read
from rackwright.rollout.traffic import Share, Shares, shares
from rackwright.rollout.world import State, World


class PlayedDoor:
    """A stand-in for phase 1's door: two proxies that are replaced one after the other."""

    def __init__(self):
        self.proxies = [0, 0]
        self.put_ever = []

    def shares(self):
        return Shares(min(self.proxies), max(self.proxies))

    def put(self, percent):
        self.put_ever.append(percent)
        self.proxies = [percent, percent]


@pytest.mark.parametrize(
    ("proxies", "state"),
    [
        ([0, 0], State.ABSENT), ([1, 1], State.ABSENT), ([1, 10], State.TO_FINISH), ([10, 10], State.DONE),
        ([10, 50], State.DONE), ([50, 50], State.DONE), ([0, 50], State.TO_FINISH), ([0, 1], State.ABSENT),
    ],
)  # fmt: skip
def test_how_far_a_step_is_follows_from_what_every_proxy_does(proxies, state):
    door = PlayedDoor()
    door.proxies = proxies
    assert Share(door, 1, 10).look().state is state


def test_acts_are_those_of_the_sites_weights():
    found = shares(PlayedDoor(), (1, 10, 50, 100))
    assert [(name, each.before, each.percent) for name, each in found.items()] == [
        ("traffic/share-1", 0, 1), ("traffic/share-10", 1, 10), ("traffic/share-50", 10, 50),
        ("traffic/share-100", 50, 100),
    ]  # fmt: skip


def test_a_step_that_fails_while_it_is_held_goes_back_to_the_share_before(tmp_path):
    door = PlayedDoor()

    class Mixed(PlayedWorld):
        @property
        def world(self):
            played = super().world
            return World({**played.acts, **shares(door, self.site.rollout.weights)}, played.gates)

    world = Mixed(tmp_path, lab())
    world.run(until="proof")
    runner = world.runner()

    def worse(seconds):
        world.clock.now += seconds
        if door.proxies == [50, 50]:
            world.failing = {"errors"}

    runner.sleep = worse
    runner.__post_init__()
    with pytest.raises(Refusal, match=r"traffic/share-50 stops at the gate errors: errors is worse than 17\.5"):
        runner.run()
    assert door.put_ever == [1, 10, 50, 10]
    assert [entry.event for entry in read(tmp_path)][-3:] == ["taking back", "taken back", "stopped"]
    world.failing = set()
    world.run(until="traffic")
    assert door.put_ever == [1, 10, 50, 10, 50, 100]
    world.back(to="copy")
    assert door.proxies == [0, 0]
