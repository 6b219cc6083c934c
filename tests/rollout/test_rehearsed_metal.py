"""Metal in a rehearsed rollout: who boots and when, what is refused before, what the report says of it.

What guests came to is made up here, and clusters are left out.
"""

import pytest
from played_world import ROOT, lab

import rackwright.cli
from rackwright.errors import Refusal
from rackwright.guests import machine, namespace, needs
from rackwright.guests.ansible import Ran
from rackwright.guests.report import Report as OnGuests
from rackwright.rollout.rehearsal import rehearse as rehearsal
from rackwright.rollout.rehearsal.metal import demand_to_boot, metal
from rackwright.rollout.rehearsal.report import SIMULATED, Report
from rackwright.rollout.way import names, way

LAB = ROOT / "inventory" / "lab"
STATS = {"ok": 9, "changed": 4, "failed": 0, "unreachable": 0}


def came(phase, *hosts, code=0):
    """What guests came to, made up."""
    found = {name: STATS | {"failed": code} for name in hosts}
    playbook = "playbooks/site.yml" if phase == 1 else "playbooks/provision.yml"
    lacks = dict.fromkeys(hosts, ("No GPU.",))
    failed = {hosts[0]: ["base : Keep time"]} if code else {}
    report = OnGuests("lab", phase, playbook, "tcg", lacks, ("k3s: ours.",), {"boot": 31.0, "first run": 200.0})
    report.first = Ran(code, "fatal: the clock is gone" if code else "", found, {}, failed)
    report.second = None if code else Ran(0, "", found)
    return report


@pytest.fixture
def course(monkeypatch):
    """What happened in a rehearsal whose guests and clusters are left out, in its order; `fails` are phases."""
    seen, fails = [], set()

    def on_guests(_folder, phase, hosts, *, progress):
        seen.append((phase, *hosts))
        progress("A task.")
        return came(phase, *hosts, code=2 if phase in fails else 0)

    def on_clusters(*_):
        seen.append("clusters")

    monkeypatch.setattr(needs, "demand_to_boot", lambda: seen.append("programs"))
    monkeypatch.setattr(namespace, "demand", lambda: None)
    monkeypatch.setattr(machine, "free_mib", lambda: 32_000)
    monkeypatch.setattr(rehearsal, "on_guests", on_guests)
    monkeypatch.setattr(rehearsal, "_on_clusters", on_clusters)
    return seen, fails


def rehearse(hosts):
    return rehearsal.rehearse(LAB, lambda _: None, hosts)


def test_hosts_of_phase_1_boot_first_then_new_ones_then_clusters(course):
    report = rehearse(["gpu-02", "gpu-01", "control-01"])
    assert course[0] == ["programs", (1, "gpu-01"), (2, "gpu-02", "control-01"), "clusters"]
    assert list(report.seconds) == ["metal of phase 1", "metal of phase 2"]


def test_without_a_name_all_boot_and_with_new_ones_alone_phase_1_has_none(course):
    rehearse([])
    rehearse(["gpu-02"])
    new = names(way(lab()).new)
    assert course[0] == ["programs", (1, "gpu-01"), (2, *new), "clusters", "programs", (2, "gpu-02"), "clusters"]


def test_nobody_boots_unasked(course):
    report = rehearse(None)
    assert course[0] == ["clusters"]
    assert report.metal == []
    assert f"  {SIMULATED}" in report.text().splitlines()
    assert "guest" not in report.text()


def test_a_guest_that_goes_wrong_ends_it_with_its_words_before_clusters_are_made(course):
    course[1].add(1)
    report = rehearse(["gpu-01", "gpu-02"])
    assert course[0] == ["programs", (1, "gpu-01")]
    assert not report.succeeded
    text = report.text().splitlines()
    assert "    FAIL gpu-01: base : Keep time" in text
    assert "      | fatal: the clock is gone" in text
    last = "lab: the rollout did NOT come to its end: playbooks/site.yml did not end well on guests; "
    assert text[-1].startswith(last)
    assert report.as_json()["metal"][0]["failed"] == {"gpu-01": ["base : Keep time"]}


def test_an_unknown_host_is_told_before_anything_begins(course):
    with pytest.raises(Refusal, match=r"The site lab has no host gpu-21\.") as refused:
        rehearse(["gpu-01", "gpu-21"])
    assert refused.value.cure == "Did you mean gpu-02?"
    assert course[0] == []


def test_guests_of_the_second_phase_that_do_not_fit_are_told_before_the_first_boots(course, monkeypatch):
    monkeypatch.setattr(machine, "free_mib", lambda: 8_000)
    with pytest.raises(Refusal, match="7 guests of 2048 MiB do not fit into the 8000 MiB"):
        rehearse([])
    assert course[0] == ["programs"]


def test_where_no_guest_is_wanted_nothing_is_asked_of_the_machine(monkeypatch):
    monkeypatch.setattr(needs, "demand_to_boot", pytest.fail)
    demand_to_boot({})
    assert [len(hosts) for hosts in metal(way(lab()), []).values()] == [1, 7]


def test_the_report_shows_guests_figures_stand_ins_and_what_they_are_without():
    report = Report("lab", {"metal of phase 1": 410.0}, taken_back=True, metal=[came(1, "gpu-01"), came(2, "gpu-02")])
    lines = report.text().splitlines()
    assert report.succeeded
    assert lines[0] == "Metal of phase 1, on guests"
    assert {
        "    gpu-01: 9 ok, 4 changed", "    ok   finds nothing to do.", "    k3s: ours.", "    gpu-02: No GPU.",
        "     200.0 s  first run", "Metal of phase 2, on guests", "   410.0 s  metal of phase 1",
    } <= set(lines)  # fmt: skip
    assert SIMULATED not in report.text()
    assert "(gpu-01 by playbooks/site.yml, gpu-02 by playbooks/provision.yml)" in report.text()
    assert [each["playbook"] for each in report.as_json()["metal"]] == ["playbooks/site.yml", "playbooks/provision.yml"]
    assert not Report("lab", taken_back=True, metal=[came(1, "gpu-01", code=2)]).succeeded


def test_the_command_hands_names_on_and_refuses_those_that_nobody_hears(course, capsys):
    assert rackwright.cli._run(["rollout", "rehearse", str(LAB), "--hosts", "--host", "gpu-01, gpu-02"]) == 1
    assert course[0] == ["programs", (1, "gpu-01"), (2, "gpu-02"), "clusters"]
    course[0].clear()
    assert rackwright.cli._run(["rollout", "rehearse", str(LAB)]) == 1  # no cluster was there to take a share back
    assert rackwright.cli._run(["rollout", "rehearse", str(LAB), "--host", "gpu-01"]) == 2
    assert course[0] == ["clusters"]
    assert "--host is for --hosts" in capsys.readouterr().err
