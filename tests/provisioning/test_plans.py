"""What is said before anything is done, for the samples."""

import json
from pathlib import Path

import pytest

from rackwright.errors import Refusal
from rackwright.provisioning.node import node
from rackwright.provisioning.provision import provision
from rackwright.provisioning.reset import reset
from rackwright.provisioning.upgrade import upgrade
from rackwright.site.catalog import Catalog
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def lab():
    return Site.load(ROOT / "inventory" / "lab")


def titles(plan):
    return {step.title: step.hosts for step in plan.steps}


@pytest.mark.parametrize(("name", "phase"), [("example", 1), ("workstation", 1), ("lab", 1), ("lab", 2)])
def test_every_sample_has_a_plan_that_names_its_hosts_and_what_reboots(name, phase):
    site = Site.load(ROOT / "inventory" / name)
    plan = provision(site, phase)
    assert plan.hosts == tuple(host.name for host in site.hosts_in(phase))
    assert json.loads(json.dumps(plan.as_json()))["hosts"] == list(plan.hosts)
    assert [step.title for step in plan.steps if step.reboots] == ["Reboot"]
    assert "Down meanwhile: the host, for up to ten minutes." in plan.text()
    assert plan.steps[0].does.startswith("nothing is changed")
    assert max(map(len, plan.text().splitlines())) <= 118


def test_the_first_phase_is_meant_where_none_is_named(lab):
    assert provision(lab).phase == 1
    assert provision(lab).variables == {"phase": 1, "preflight_phase": 1}


def test_a_host_that_serves_in_one_phase_alone_means_that_one(lab):
    assert node(lab, "gpu-02", "add").phase == 2
    assert reset(lab, ["gpu-01", "gpu-03"]).phase == 2
    assert provision(lab, None, ["gpu-01"]).phase == 1


def test_control_hosts_come_one_at_a_time_before_the_others(lab):
    plan = provision(lab, 2)
    control = next(step for step in plan.steps if step.title == "Control plane")
    assert (control.one_at_a_time, control.hosts) == (True, ("control-01", "control-02", "control-03"))
    assert "agents-01" in titles(plan)["Nodes"]
    assert titles(plan)["Agents' limits"] == ("agents-01",)
    assert "Control plane: control-01, control-02, control-03, one at a time" in plan.text()


def test_a_limit_is_said_with_whom_it_leaves_out(lab):
    plan = provision(lab, 2, ["gpu-02"])
    assert plan.limit == ("gpu-02",)
    assert "control-03 are neither asked nor changed" in " ".join(plan.warnings)
    assert "Control plane" not in titles(plan)
    assert plan.command(Path("inventory/lab")).endswith("-e phase=2 -e preflight_phase=2 --limit gpu-02")


class TestUpgrade:
    def test_a_driver_goes_to_the_version_of_the_sites_branch_node_by_node(self, lab):
        plan = upgrade(lab, Catalog.load(), "driver", 2)
        version = Catalog.load().drivers[lab.gpu.driver_branch].version
        step = plan.steps[1]
        assert step.title == f"Driver {version}"
        assert step.one_at_a_time
        assert step.reboots
        assert step.hosts == ("gpu-01", "gpu-02", "gpu-03", "train-01")

    def test_kubernetes_moves_its_servers_first(self, lab):
        plan = upgrade(lab, Catalog.load(), "kubernetes", 2)
        assert [step.hosts[0] for step in plan.steps[1:]] == ["control-01", "gpu-01"]
        assert all(step.one_at_a_time for step in plan.steps[1:])
        assert "a snapshot of etcd" in plan.steps[1].does

    def test_a_server_that_is_alone_has_nowhere_to_drain_to(self, lab):
        assert "gpu-01 is alone and has nowhere to drain to" in upgrade(lab, Catalog.load(), "kubernetes", 1).text()
        assert "alone" not in upgrade(lab, Catalog.load(), "kubernetes", 2).text()


class TestNode:
    @pytest.mark.parametrize("act", ["add", "remove", "replace"])
    def test_no_other_host_is_in_it(self, lab, act):
        plan = node(lab, "gpu-02", act, 2)
        assert {name for step in plan.steps for name in step.hosts} == {"gpu-02"}
        assert plan.variables["node"] == "gpu-02"
        assert plan.variables["act"] == act

    def test_a_machine_that_is_gone_is_not_drained(self, lab):
        assert "Drain" in titles(node(lab, "gpu-02", "remove", 2))
        assert "Drain" not in titles(node(lab, "gpu-02", "remove", 2, dead=True))

    def test_a_control_host_leaves_etcd_and_says_what_is_left(self, lab):
        text = node(lab, "control-02", "remove", 2).text()
        assert "leaves etcd and the cluster" in text
        assert "2 control hosts stay: etcd bears 0 more to fail" in text

    def test_the_only_server_does_not_leave(self, lab):
        with pytest.raises(Refusal, match="only server of the cluster of phase 1"):
            node(lab, "gpu-01", "remove", 1)
        assert node(lab, "gpu-01", "add", 1).steps

    def test_a_drive_is_named_by_a_serial_number_that_it_has(self, lab):
        with pytest.raises(Refusal, match="gpu-02 has no drive NONE in the site file"):
            node(lab, "gpu-02", "remove", 2, drives=["NONE"])
        serial = next(host for host in lab.hosts if host.name == "gpu-02").disks[0].path.rpartition("_")[2]
        plan = node(lab, "gpu-02", "remove", 2, drives=[serial])
        assert plan.variables["reset_drives"] == serial
        assert f"drives {serial} are given back, all others keep what they have" in plan.steps[-1].does


class TestReset:
    def test_the_end_of_a_cluster_is_said(self, lab):
        assert "the cluster of phase 1 ends" in reset(lab, ["gpu-01"], 1).text()
        assert "ends" not in reset(lab, ["gpu-02"], 2).text()

    def test_only_drives_that_are_named_are_given_back(self, lab):
        assert [step.title for step in reset(lab, ["gpu-01"], 1).steps] == ["Take off the cluster"]
        with pytest.raises(Refusal, match="has a drive X"):
            reset(lab, ["gpu-01"], 1, ["X"])


@pytest.mark.parametrize("name", ["gpu-1", "localhost", ""])
def test_a_name_that_is_no_host_is_refused(lab, name):
    with pytest.raises(Refusal, match="has no host"):
        provision(lab, 2, [name])


@pytest.mark.parametrize(
    ("phase", "wanted", "name", "cure"),
    [
        (1, ["gpu-02"], "gpu-02", "It is of another: add --phase 2."),  # and never the nearest name: another machine
        (None, ["gpu-02", "gpu-99"], "gpu-99", "Did you mean gpu-01?"),
        (2, ["x"], "x", "Known: gpu-01, gpu-02, gpu-03, train-01, agents-01, control-01, control-02, control-03."),
    ],
)
def test_the_cure_for_a_name_is_of_its_phase(lab, phase, wanted, name, cure):
    with pytest.raises(Refusal) as refused:
        provision(lab, phase, wanted)
    assert f"no host {name} in phase" in refused.value.what
    assert refused.value.cure == cure


def test_for_whom_is_to_leave_no_other_machine_is_guessed(lab):
    for plan in (
        lambda: reset(lab, ["gpu-09"]),
        lambda: node(lab, "gpu-09", "remove"),
        lambda: node(lab, "gpu-09", "replace"),
    ):
        with pytest.raises(Refusal) as refused:
            plan()
        assert refused.value.what == "The site lab has no host gpu-09."
        assert refused.value.cure.startswith(
            "Where it was taken out of the file, write it back until it has left. Hosts:"
        )
    with pytest.raises(Refusal, match=r"in phase 1\. It is of another: add --phase 2"):
        reset(lab, ["gpu-02"], 1)


def test_ansibles_own_command_runs_where_it_is_typed(lab, tmp_path, monkeypatch):
    plan = provision(lab, 1)
    monkeypatch.chdir(ROOT)
    assert plan.command(Path("inventory/lab")).startswith("ansible-playbook -i inventory/lab playbooks/site.yml")
    monkeypatch.chdir(tmp_path)
    wanted = f"cd {ROOT} && ansible-playbook -i '{tmp_path}/my site' playbooks/site.yml"
    assert plan.command(Path("my site")).startswith(wanted)


def test_a_phase_that_the_site_has_not_is_refused():
    with pytest.raises(Refusal, match="has no phase 2"):
        provision(Site.load(ROOT / "inventory" / "workstation"), 2)
