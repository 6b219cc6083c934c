"""What stands in for data in a rehearsal: writers that count, stores, a kubectl, figures that fail where they must."""

import subprocess
from dataclasses import replace
from types import SimpleNamespace

import pytest
from played_world import lab
from waiting import until

from rackwright.rollout.qdrant.acts import Copy, CutOver
from rackwright.rollout.qdrant.shape import Spread
from rackwright.rollout.qdrant.store import Store
from rackwright.rollout.rehearsal.databases import databases, missing
from rackwright.rollout.rehearsal.death import KEPT, Death
from rackwright.rollout.rehearsal.figures import Figures
from rackwright.rollout.rehearsal.ground import Cluster
from rackwright.rollout.rehearsal.kubectl import stand_in
from rackwright.rollout.rehearsal.played import PlayedAct, PlayedGate
from rackwright.rollout.rehearsal.report import Report
from rackwright.rollout.rehearsal.services import Services
from rackwright.rollout.rehearsal.stores import stores
from rackwright.rollout.rehearsal.world import Rehearsed
from rackwright.rollout.way import way

FIGURES = Figures("PostgreSQL", "two servers", "rows", 3, 1000, 0, 2.5)
KEY = "the-key-of-the-store"


@pytest.mark.parametrize(
    "change", [{"lost": 1}, {"written": 0}, {"refused_s": 10.1}, {"faults": ("phase2 is promoted without a token",)}]
)
def test_figures_that_are_not_what_they_must_be_fail_the_rehearsal(change):
    wrong = replace(FIGURES, **change)
    assert FIGURES.well
    assert not wrong.well
    report = Report("lab", taken_back=True, data=(FIGURES, wrong))
    assert not report.succeeded
    assert wrong.words in report.text().splitlines()[-1]
    assert Report("lab", taken_back=True, data=(FIGURES,)).succeeded
    assert f"  {FIGURES.words}" in Report("lab", taken_back=True, data=(FIGURES,)).text().splitlines()


def test_a_node_that_dies_must_be_seen_leave_enough_and_come_back():
    kept = {name: least for name, (_, least) in KEPT.items()}
    death = Death("gpu-02", "20 passed, 4 failed", kept, "24 passed", is_whole=True, back_s=3.0)
    assert death.well
    wrong = [replace(death, lost=""), replace(death, is_whole=False), replace(death, kept=kept | {"postgres": 1})]
    assert not any(each.well for each in wrong)
    assert not Report("lab", taken_back=True, death=wrong[0]).succeeded
    assert "gpu-02 was taken away: no check saw it" in Report("lab", death=wrong[0]).text()


def test_what_is_not_to_be_had_is_said_loudly():
    report = Report("lab", taken_back=True, without="NO POSTGRESQL CAN BE HAD HERE")
    assert "NO POSTGRESQL CAN BE HAD HERE" in report.text().splitlines()
    assert report.as_json()["without"]


def test_without_programs_there_are_no_databases_and_their_steps_are_played(monkeypatch):
    monkeypatch.setattr("rackwright.rollout.rehearsal.databases.programs", lambda _: None)
    with databases((), None, None) as found:
        assert found is None
    assert missing().startswith("NO POSTGRESQL ")
    somewhere = SimpleNamespace(stack=None, kubectl=(), access=None, progress=None, serves=None)
    played = Rehearsed(way(lab()), somewhere, somewhere).played()
    assert {"copy/postgresql", "cut-over/postgresql", "no-return/part", "gate rows-equal"} <= set(played)


def test_steps_of_services_that_are_there_are_real_and_a_gate_may_be_read_at_some_steps_alone():
    somewhere = SimpleNamespace(stack=None, kubectl=(), access=None, progress=None, serves=None)
    gates = dict.fromkeys(("rows-equal", "copy/qdrant versions-fit"), PlayedGate())
    services = Services({"copy/postgresql": PlayedAct()}, gates)
    found = Rehearsed(way(lab()), somewhere, somewhere, services)
    assert "copy/postgresql" not in found.played()
    assert "gate rows-equal" not in found.played()
    assert "gate versions-fit of baseline/room, copy/postgresql" in found.played()
    assert not found.acts()["platform/lay"].copies_data


def test_points_that_an_application_was_told_of_go_over_with_it():
    with stores(KEY) as found:
        old, new = (Store(f"phase-{n}", [each.address], KEY) for n, each in enumerate(found.stand_ins, 1))
        spread = Spread(6, 2)
        Copy(old, new, spread, lambda _: None).do()
        until(lambda: len(found.writer.told) > 5, "nothing is written")
        CutOver(old, new, spread, spread, lambda _: None).do()
        before = len(found.writer.told)
        until(lambda: len(found.writer.told) > before + 5, "writes do not go on")
        found.leave()  # phase 1's store is needed no more
        before = len(found.writer.told)
        until(lambda: len(found.writer.told) > before + 5, "writes do not go on")
        figures = found.figures()
        assert figures.well
        assert figures.written == len(found.writer.told)
        assert figures.refused_s > 0
        found.stand_ins[1].collections["documents"].points.pop(found.writer.told[0])
        assert found.figures().lost == 1


def test_where_a_rollout_ends_before_the_copy_the_figures_hide_no_reason():
    with stores(KEY) as found:
        figures = found.figures()
    assert (figures.lost, figures.well) == (0, False)


def test_machines_that_join_are_waited_for_since_the_next_look_proves_them():
    seen = []
    kubectl = SimpleNamespace(wait_for=lambda *what, condition, **_: seen.append((what, condition)))
    plane = SimpleNamespace(apply=lambda made: seen.append(len(list(made))), kubectl=kubectl)
    Cluster(lab(), None, 2, plane, None, None, None).power_on(["gpu-02", "control-01"])
    assert seen[0] > 2  # nodes, and the room on their drives
    assert seen[1] == (("node/gpu-02", "node/control-01"), "Ready")


def test_a_pod_is_entered_by_a_socket_and_its_port_by_an_address(tmp_path):
    psql, real = tmp_path / "psql", tmp_path / "kubectl"
    for file in (psql, real):
        file.write_text(f'#!/bin/sh\necho {file.name} "$@"\n')
        file.chmod(0o755)
    server = SimpleNamespace(programs=tmp_path, sockets=tmp_path / "socket")
    program = stand_in(tmp_path / "both", [str(real), "--kubeconfig=a"], server=server, store=("127.0.0.1:99", 6333))

    def says(*words):
        with subprocess.Popen([program, *words], stdout=subprocess.PIPE, text=True) as process:
            said = process.stdout.readline()
            process.kill()
        return said.strip()

    inside = ("exec", "--stdin", "service/postgres-rw", "--", "psql", "--username=postgres", "-d", "a b")
    assert says("--namespace=postgres", *inside) == f"psql --host={tmp_path}/socket --username=postgres -d a b"
    assert says("port-forward", "pod/qdrant-0", ":6333") == "Forwarding from 127.0.0.1:99 -> 6333"
    assert says("get", "pods") == "kubectl --kubeconfig=a get pods"
