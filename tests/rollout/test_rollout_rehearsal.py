"""The whole rollout on two rehearsal clusters: what is real there is carried out, what is not is said."""

import json
import re
import shutil
import sys

import pytest
from played_world import ROOT

import rackwright.cli
from rackwright.rollout.journal import Entry
from rackwright.rollout.rehearsal.played import PlayedAct, PlayedGate, Simulated
from rackwright.rollout.rehearsal.report import Report
from rackwright.rollout.world import State

REAL = {
    "cluster/found", "platform/lay", "copy/qdrant", "copy/weights", "proof/queries", "traffic/share-10",
    "traffic/share-100", "cut-over/qdrant", "no-return/drain", "no-return/clean", "no-return/join", "no-return/scale",
}  # fmt: skip
OF_DATABASES = {"copy/postgresql", "cut-over/postgresql", "stand-by/follow", "no-return/part"}


@pytest.fixture(scope="module")
def rehearsed(toolbox, tmp_path_factory):
    """What the command reports of the rack, with two steps of traffic."""
    assert toolbox["pulumi"]
    folder = tmp_path_factory.mktemp("site")
    text = (ROOT / "inventory" / "lab" / "site.yml").read_text()
    (folder / "site.yml").write_text(text.replace("{hold_s: 900}", "{hold_s: 900, weights: [10, 100]}"))
    out = tmp_path_factory.mktemp("said") / "out"
    before = sys.stdout
    with out.open("w") as stream:
        sys.stdout = stream
        try:
            code = rackwright.cli._run(["rollout", "rehearse", str(folder), "--json"])
        finally:
            sys.stdout = before
    assert {path.name for path in folder.iterdir()} == {"site.yml"}
    yield code, json.loads(out.read_text())
    shutil.rmtree(folder)


@pytest.mark.whole_rollout
def test_it_comes_to_its_end_and_says_what_was_played(rehearsed):
    code, told = rehearsed
    assert told["refused"] == ""
    assert told["left"] == []
    assert (code, told["succeeded"]) == (0, True)
    assert not REAL & set(told["played"])
    assert {"metal/provision", "baseline/backup", "cut-over/door"} <= set(told["played"])
    assert {"gate errors", "gate certificates-good"} <= set(told["played"])
    assert not {"gate phase-1-serves", "gate phase-2-serves", "gate weights-there"} & set(told["played"])


@pytest.mark.whole_rollout
def test_what_applications_were_told_is_there_in_the_end(rehearsed):
    _, told = rehearsed
    *databases, collections = told["data"]
    assert collections["written"] > 100
    assert (collections["name"], collections["lost"]) == ("Qdrant", 0)
    assert 0 < collections["refused_s"] <= 10
    if not databases:
        assert "NO POSTGRESQL" in told["without"]
        pytest.skip(told["without"])
    assert not OF_DATABASES & set(told["played"])
    assert databases[0]["written"] > 1000
    assert (databases[0]["lost"], databases[0]["faults"]) == (0, [])
    assert 0 < databases[0]["refused_s"] <= 10
    read = {entry["gate"]: entry["seen"] for entry in told["entries"] if entry["event"] == "gate"}
    assert re.match(r"[1-9]\d* rows in 3 tables equal, 3 sequences, none behind$", read["rows-equal"])
    assert read["points-equal"].endswith("in 2 collections equal")


@pytest.mark.whole_rollout
def test_a_node_of_phase_2_dies_and_comes_back(rehearsed):
    _, told = rehearsed
    assert told["death"]["node"] == "gpu-02"
    assert told["death"]["well"]
    assert " failed" in told["death"]["lost"]


@pytest.mark.whole_rollout
def test_a_share_at_which_a_gate_fails_is_taken_back_by_itself_and_given_again(rehearsed):
    _, told = rehearsed
    words = [entry["event"] for entry in told["entries"] if entry["step"] == "traffic/share-10"]
    assert [word for word in words if word != "gate"] == ["begun", "taking back", "taken back", "begun", "done"]
    assert told["taken_back_by_itself"]


@pytest.mark.whole_rollout
def test_the_old_server_joins_and_only_adds(rehearsed):
    _, told = rehearsed
    words = {entry["step"]: entry.get("words", "") for entry in told["entries"] if entry["event"] == "done"}
    assert words["traffic/share-100"] == "100 % go on"
    assert words["no-return/drain"] == "nothing runs there that serves"
    assert words["no-return/scale"].endswith("resources, on all hosts")
    assert words["copy/weights"] == "5 engines are ready"


def test_a_rehearsal_that_did_not_come_to_its_end_says_why():
    entry = Entry(1, "2026-11-30T09:00:00Z", "r", "me", "done", "metal/provision", {"took_s": 2.5})
    report = Report(
        "lab", {"tools": 1.0}, (entry,), ("metal/provision",), refused="pulumi up says no: x.", left=("a/b",)
    )
    assert not report.succeeded
    assert "lab: the rollout did NOT come to its end: pulumi up says no: x.; 1 s." in report.text()
    assert "2.5 s  metal/provision" in report.text()
    assert not Report("lab").succeeded
    assert Report("lab", taken_back=True).succeeded


def test_what_is_played_is_remembered():
    act, gate, there = PlayedAct(), PlayedGate(fails=1), []
    assert act.look().state is State.ABSENT
    act.do()
    assert act.look().state is State.DONE
    act.undo()
    assert act.look().state is State.ABSENT
    assert [gate().passed, gate().passed] == [False, True]
    machine = Simulated(lambda: bool(there), lambda: there.append(1), there.clear)
    machine.do()
    assert machine.look().state is State.DONE
    machine.undo()
    assert machine.look().state is State.ABSENT
