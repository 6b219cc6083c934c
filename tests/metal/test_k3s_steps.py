"""Steps between releases of k3s."""

import pytest

from rackwright.metal.k3s_steps import step_refused


@pytest.mark.parametrize(
    ("installed", "wished"),
    [
        ("v1.36.1+k3s1", "v1.36.1+k3s1"),
        ("v1.36.1+k3s1", "v1.36.1+k3s2"),
        ("v1.36.1+k3s1", "v1.36.12+k3s1"),
        ("v1.35.9+k3s1", "v1.36.1+k3s1"),
    ],
)
def test_a_step_within_a_minor_or_to_the_next_is_taken(installed, wished):
    assert step_refused(installed, wished) == ""


@pytest.mark.parametrize(
    ("installed", "wished", "said"),
    [
        ("v1.34.2+k3s1", "v1.36.1+k3s1", "a release of 1.35 into the catalog first"),
        ("v1.36.1+k3s1", "v1.35.9+k3s1", "does not go back"),
        ("v1.36.1+k3s2", "v1.36.1+k3s1", "does not go back"),
        ("", "v1.36.1+k3s1", "playbooks/k3s.yml"),
        ("v1.36.1-rc1+k3s1", "v1.36.1+k3s1", "v1.36.1-rc1+k3s1 is no release"),
        ("v1.36.1+k3s1", "stable", "stable is no release"),
    ],
)
def test_other_steps_are_refused_with_the_way(installed, wished, said):
    assert said in step_refused(installed, wished)
