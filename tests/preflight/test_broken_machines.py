"""Symptom in, wanted finding out: real reports first, then every other check."""

import broken_drives_and_software
import broken_gpus
import broken_networks
import broken_systems
import pain_rows
import pytest
from fleet import look

from rackwright.preflight.judge import checks, spoken

ROWS = {}
for rows in (pain_rows, broken_systems, broken_gpus, broken_networks, broken_drives_and_software):
    ROWS |= rows.ROWS


def missed(case):
    """What is said of a broken machine that is not the finding that is wanted."""
    found = look({case.host: case.change}, case.site, case.phase)
    wanted = [each for each in found if each.host == case.host and each.check == case.check]
    return found, wanted


@pytest.mark.parametrize("name", ROWS)
def test_a_broken_machine_gets_the_finding_that_is_wanted(name):
    case = ROWS[name]
    found, wanted = missed(case)
    assert wanted, found
    finding = next((each for each in wanted if all(word in each.what for word in case.words)), None)
    assert finding, wanted
    assert finding.weight is case.weight
    assert case.cure in finding.cure


# What follows from one fault, and is as true as the fault itself.
FOLLOWS = {
    "1 fabric manager of another version than the driver": {"holds are the sites"},
    "a wrong clock that nobody keeps yet": {"clock is kept"},
    "an old kernel": {"headers are offered"},
    "Blackwell with the proprietary module": {"driver is the catalogs"},
    "a volume group of another's": {"drives are unused"},
}


@pytest.mark.parametrize("name", ROWS)
def test_one_fault_is_said_once_and_of_one_host(name):
    case = ROWS[name]
    found, wanted = missed(case)
    others = {each.check for each in found if each not in wanted}
    assert others <= FOLLOWS.get(name, set()), found
    assert {each.host for each in found} == {case.host}


def test_every_check_is_made_to_fail():
    assert {spoken(check) for check in checks()} <= {case.check for case in ROWS.values()}


def test_every_finding_is_a_clause_with_a_cure():
    for case in ROWS.values():
        for finding in look({case.host: case.change}, case.site, case.phase):
            assert finding.cure
            assert not finding.what.endswith(".")
            assert not finding.cure.endswith(".")
