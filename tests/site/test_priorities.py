"""The two ends count in opposite directions, and agree on who goes first."""

from typing import get_args

from rackwright.site.priorities import of_engine, of_router
from rackwright.site.tenants import PriorityClass

FIRST_TO_LAST = ("interactive", "agents", "batch")


def test_every_class_has_its_place():
    assert set(get_args(PriorityClass)) == set(FIRST_TO_LAST)


def test_the_router_takes_the_highest_number_first():
    assert sorted(FIRST_TO_LAST, key=of_router, reverse=True) == list(FIRST_TO_LAST)


def test_the_engine_takes_the_lowest_number_first():
    assert sorted(FIRST_TO_LAST, key=of_engine) == list(FIRST_TO_LAST)


def test_no_two_classes_tie():
    assert len({of_router(each) for each in FIRST_TO_LAST}) == len(FIRST_TO_LAST)
    assert len({of_engine(each) for each in FIRST_TO_LAST}) == len(FIRST_TO_LAST)
