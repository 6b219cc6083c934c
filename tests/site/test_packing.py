"""Whether replicas find room: against every arrangement that there is."""

from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from rackwright.site.packing import without_room

SIZES = st.lists(st.integers(1, 8), max_size=6)
ROOMS = st.lists(st.integers(0, 8), max_size=3)


def fits(sizes, rooms):
    """True where some order, with each size in the first room that takes it, leaves none over."""
    for order in set(permutations(sizes)):
        free = list(rooms)
        for size in order:
            at = next((index for index, room in enumerate(free) if room >= size), None)
            if at is None:
                break
            free[at] -= size
        else:
            return True
    return not sizes


@settings(max_examples=300)
@given(sizes=SIZES, rooms=ROOMS)
def test_what_finds_no_room_finds_none_in_any_arrangement(sizes, rooms):
    assert bool(without_room(sizes, rooms)) == (not fits(sizes, rooms))


@settings(max_examples=200)
@given(sizes=st.lists(st.sampled_from([1, 2, 4, 8]), max_size=6), rooms=ROOMS)
def test_sizes_that_divide_each_other_need_no_search(sizes, rooms):
    assert bool(without_room(sizes, rooms)) == (not fits(sizes, rooms))


def test_what_is_left_over_is_named():
    assert without_room([4, 4, 4], [6, 6]) == [4]
    assert without_room([8], []) == [8]
    assert without_room([], [8]) == []


def test_a_large_site_is_judged_at_once():
    assert without_room([4] * 2_000, [8] * 1_000) == []
    assert without_room([4] * 2_001, [8] * 1_000) == [4]
    assert without_room([3, 5] * 1_000, [8] * 1_000) == []


def test_where_it_cannot_be_told_in_time_nothing_is_refused():
    assert without_room([5, 4, 3] * 300, [12] * 299 + [11]) == []
