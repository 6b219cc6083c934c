"""The rack's switch: frames in, frames out."""

import struct

import pytest

from rackwright.guests import lacp
from rackwright.guests.lacp import Party, State
from rackwright.guests.switch import MAC, Switch, SwitchPort

A, B, C = (bytes.fromhex(f"52540000000{n}") for n in (1, 2, 3))
EVERYBODY = b"\xff" * 6
MTUS = {"nodes": 1500, "storage": 9000}


def frame(to, sender, payload=b"x" * 50, tag=None):
    control = b"" if tag is None else struct.pack("!HH", 0x8100, tag)
    return to + sender + control + b"\x08\x00" + payload


def words(sender, key=9, state=State.ACTIVE | State.AGGREGATABLE | State.IN_SYNC, port=1):
    return lacp.write(sender, Party(sender, key, port, state), None)


@pytest.fixture
def switch():
    return Switch(
        [
            SwitchPort("a", 1, untagged="nodes", tagged={120: "storage"}),
            SwitchPort("b", 2, untagged="nodes"),
            SwitchPort("c", 3, untagged="storage"),
            SwitchPort("x/0", 4, untagged="nodes", bond="x"),
            SwitchPort("x/1", 5, untagged="nodes", bond="x"),
        ],
        MTUS,
    )


def at(out):
    return {port for port, _ in out}


class TestForwarding:
    def test_a_frame_to_all_reaches_its_own_network_and_not_its_sender(self, switch):
        assert at(switch.receive("a", frame(EVERYBODY, A), 0)) == {"b", "x/0", "x/1"}

    def test_an_address_is_learned_where_it_speaks(self, switch):
        switch.receive("b", frame(EVERYBODY, B), 0)
        assert switch.receive("a", frame(B, A), 0) == [("b", frame(B, A))]
        switch.receive("a", frame(EVERYBODY, B), 0)  # it has moved
        assert at(switch.receive("b", frame(B, C), 0)) == {"a"}

    def test_one_behind_the_port_that_it_came_from_gets_nothing_twice(self, switch):
        switch.receive("a", frame(EVERYBODY, A), 0)
        assert switch.receive("a", frame(A, B), 0) == []

    def test_an_address_behind_a_pulled_plug_is_forgotten(self, switch):
        switch.receive("b", frame(EVERYBODY, B), 0)
        switch.unplug("b")
        assert at(switch.receive("a", frame(B, A), 0)) == {"b", "x/0", "x/1"}

    def test_what_bridges_keep_to_themselves_goes_nowhere(self, switch):
        assert switch.receive("a", frame(bytes.fromhex("0180c200000e"), A), 0) == []


class TestNetworks:
    def test_a_tag_is_taken_off_and_put_on(self, switch):
        tagged = frame(EVERYBODY, A, tag=120)
        assert switch.receive("a", tagged, 0) == [("c", frame(EVERYBODY, A))]
        assert switch.receive("c", frame(EVERYBODY, C), 0) == [("a", frame(EVERYBODY, C, tag=120))]

    def test_tag_0_is_none(self, switch):
        assert ("b", frame(EVERYBODY, A)) in switch.receive("a", frame(EVERYBODY, A, tag=0), 0)

    def test_a_tag_that_the_port_does_not_know_goes_nowhere(self, switch):
        assert switch.receive("b", frame(EVERYBODY, A, tag=120), 0) == []

    def test_one_address_in_two_networks_is_two(self, switch):
        switch.receive("a", frame(EVERYBODY, A), 0)
        switch.receive("c", frame(EVERYBODY, A), 0)
        assert at(switch.receive("b", frame(A, B), 0)) == {"a"}

    @pytest.mark.parametrize(("size", "passes"), [(1500, True), (1501, False)])
    def test_a_frame_larger_than_the_network_allows_is_dropped(self, switch, size, passes):
        assert bool(switch.receive("b", frame(EVERYBODY, B, b"x" * size), 0)) is passes
        assert switch.dropped["larger than the MTU"] == (not passes)

    @pytest.mark.parametrize(("size", "passes"), [(9000, True), (9001, False)])
    def test_a_tag_does_not_count(self, switch, size, passes):
        assert bool(switch.receive("a", frame(EVERYBODY, A, b"x" * size, tag=120), 0)) is passes


class TestBonds:
    def test_before_a_bond_is_made_its_ports_are_ordinary(self, switch):
        switch.receive("x/0", frame(EVERYBODY, C), 0)
        assert switch.receive("a", frame(C, A), 0) == [("x/0", frame(C, A))]

    def test_a_partner_is_answered_with_itself(self, switch):
        ((port, said),) = switch.receive("x/0", words(C), 0)
        actor, partner = lacp.read(said)
        assert (port, actor.system, actor.port, partner.system, partner.key) == ("x/0", MAC, 4, C, 9)
        assert State.DISTRIBUTING in actor.state

    def test_who_is_not_in_step_yet_gets_no_traffic(self, switch):
        ((_, said),) = switch.receive("x/0", words(C, state=State.ACTIVE | State.AGGREGATABLE), 0)
        assert State.DISTRIBUTING not in lacp.read(said)[0].state
        assert switch.members("x") == []

    def test_a_bond_gets_each_frame_once_and_one_sender_always_at_one_port(self, switch):
        for port in ("x/0", "x/1"):
            switch.receive(port, words(C), 0)
        assert [port.name for port in switch.members("x")] == ["x/0", "x/1"]
        used = set()
        for last in range(64):
            sender = A[:5] + bytes([last])
            first, again = (at(switch.receive("a", frame(EVERYBODY, sender), 0)) & {"x/0", "x/1"} for _ in range(2))
            assert len(first) == 1
            assert first == again
            used |= first
        assert used == {"x/0", "x/1"}

    def test_nothing_comes_back_through_the_other_link(self, switch):
        for port in ("x/0", "x/1"):
            switch.receive(port, words(C), 0)
        assert at(switch.receive("x/0", frame(EVERYBODY, C), 0)) == {"a", "b"}

    def test_a_link_beside_the_bond_carries_nothing(self, switch):
        switch.receive("x/0", words(C), 0)
        assert switch.receive("x/1", frame(EVERYBODY, C), 0) == []
        assert at(switch.receive("a", frame(EVERYBODY, A), 0)) == {"b", "x/0"}

    def test_links_of_two_bonds_do_not_become_one(self, switch):
        switch.receive("x/0", words(C, key=9), 0)
        switch.receive("x/1", words(C, key=10), 0)
        assert [port.name for port in switch.members("x")] == ["x/0"]

    def test_a_port_without_a_bond_is_no_partner(self, switch):
        assert switch.receive("a", words(A), 0) == []

    def test_one_that_falls_silent_is_an_ordinary_port_again(self, switch):
        switch.receive("x/0", words(C), 0)
        assert at(switch.tick(31)) == set()
        assert switch.members("x") == []

    def test_a_partner_hears_of_us_as_often_as_it_wants(self, switch):
        switch.receive("x/0", words(C), 0)
        assert switch.tick(2) == []
        switch.receive("x/0", words(C, state=State.ACTIVE | State.IN_SYNC | State.SHORT_TIMEOUT), 2)
        assert at(switch.tick(3.5)) == {"x/0"}
        assert switch.tick(4) == []

    @pytest.mark.parametrize("length", range(0, 60, 7))
    def test_broken_words_are_passed_over(self, switch, length):
        assert switch.receive("x/0", words(C)[: 15 + length][:54], 0) == []


@pytest.mark.parametrize("length", range(20))
def test_a_frame_that_is_cut_short_goes_nowhere_or_as_it_is(switch, length):
    for _, out in switch.receive("a", frame(EVERYBODY, A)[:length], 0):
        assert out == frame(EVERYBODY, A)[:length]
