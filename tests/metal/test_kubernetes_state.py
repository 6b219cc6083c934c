"""What is done with a host that is to be in the cluster, by what was found on it and on others."""

import pytest

from rackwright.errors import Refusal
from rackwright.metal.kubernetes_state import Step, found_state, mark, step

API = "10.0.0.5"
OURS = f"clusters:\n- cluster:\n    server: https://{API}:6443\n"
THEIRS = OURS.replace(API, "10.9.9.9")
CONTROLS = ["c1", "c2", "c3"]


@pytest.mark.parametrize(
    ("mark_text", "kubelet_file", "wished"),
    [
        (None, "", "new"),
        (mark("lab", API, "begun"), "", "half"),
        (mark("lab", API, "begun"), OURS, "half"),  # a power cut in the middle of kubeadm
        (mark("lab", API, "done"), OURS, "member"),
        (None, OURS, "member"),  # joined by hand
        ("", OURS, "member"),  # a mark that a power cut emptied is no reason to take a node apart
        ("", "", "half"),
        (": {", "", "half"),
    ],
)
def test_the_state_of_a_host(mark_text, kubelet_file, wished):
    assert found_state(mark_text, kubelet_file, site="lab", api=API) == wished


def test_a_control_hosts_kubelet_speaks_to_its_own_api():
    """So kubeadm has it since 1.36; the same file on another host is another cluster's."""
    own = OURS.replace(API, "10.0.0.11")
    assert found_state(mark("lab", API, "done"), own, site="lab", api=API, own="10.0.0.11") == "member"
    with pytest.raises(Refusal):
        found_state(None, own, site="lab", api=API, own="10.0.0.12")


@pytest.mark.parametrize(
    ("mark_text", "kubelet_file"),
    [(mark("other", "10.9.9.9", "done"), ""), (mark("other", "10.9.9.9", "begun"), ""), (None, THEIRS)],
)
def test_another_clusters_node_is_left_alone(mark_text, kubelet_file):
    with pytest.raises(Refusal, match=r"10\.9\.9\.9.*reset"):
        found_state(mark_text, kubelet_file, site="lab", api=API)


def test_the_first_control_host_founds_and_no_other():
    assert step("c1", controls=CONTROLS, state="new", answering=[], members=[]) == Step("found", None, clears=False)
    for name in ("c2", "c3", "w1"):
        with pytest.raises(Refusal, match="begins on c1"):
            step(name, controls=CONTROLS, state="new", answering=[], members=[])


def test_a_founding_that_was_cut_off_begins_again():
    found = step("c1", controls=CONTROLS, state="half", answering=["c1"], members=[])
    assert found == Step("found", None, clears=True)


@pytest.mark.parametrize("name", ["c2", "w1"])
def test_where_an_api_answers_a_host_joins(name):
    found = step(name, controls=CONTROLS, state="new", answering=["c1"], members=["c1"])
    assert found == Step("join", "c1", clears=False)
    assert step(name, controls=CONTROLS, state="half", answering=["c1"], members=["c1"]).clears


def test_a_first_control_host_that_was_replaced_joins_and_founds_no_second_cluster():
    assert step("c1", controls=CONTROLS, state="new", answering=["c3"], members=["c2", "c3"]).act == "join"
    with pytest.raises(Refusal, match="c2, c3 made the cluster already"):
        step("c1", controls=CONTROLS, state="new", answering=[], members=["c2", "c3"])


def test_a_member_is_left_as_it_is_also_when_nothing_answers():
    assert step("c1", controls=CONTROLS, state="member", answering=[], members=["c1"]) == Step("none", None, False)
    assert step("c2", controls=CONTROLS, state="member", answering=["c1", "c2"], members=[]).through == "c2"
