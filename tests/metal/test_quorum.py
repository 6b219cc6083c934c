"""Who may leave etcd."""

import json

import pytest

from rackwright.metal.quorum import healthy, members, why_it_stays


def listed(*names):
    return members(
        json.dumps(
            {
                "members": [
                    {"ID": number, "name": name, "clientURLs": [f"https://{name}:2379"]}
                    for number, name in enumerate(names)
                ]
            }
        )
    )


def well(*names):
    return healthy(json.dumps([{"endpoint": f"https://{name}:2379", "health": True} for name in names]))


@pytest.mark.parametrize(
    ("leaves", "known", "sound", "why"),
    [
        ("c", "abc", "abc", ""),
        ("c", "abc", "ab", ""),  # the dead one goes
        ("a", "abc", "ab", "etcd has 2 members, and 2 of them must be well; c is not"),
        ("a", "ab", "ab", ""),
        ("a", "ab", "a", "etcd has 1 members, and 1 of them must be well; b is not"),
        ("a", "a", "a", "is the last member of etcd"),
        ("x", "abc", "a", ""),  # no member: an earlier run took it out
        ("e", "abcde", "abc", ""),
        ("e", "abcde", "abe", "must be well; c, d is not"),
    ],
)
def test_those_who_stay_are_a_majority_that_is_well(leaves, known, sound, why):
    found = why_it_stays(leaves, listed(*known), well(*sound))
    assert why in found
    assert bool(found) is bool(why)


def test_a_member_that_never_started_counts_and_is_not_well():
    known = [*listed("a", "b"), *members(json.dumps({"members": [{"ID": 7, "peerURLs": ["https://c:2380"]}]}))]
    assert "one that never started is not" in why_it_stays("b", known, well("a", "b"))
