"""The playbooks of nodes, with a cluster that is played: who is touched, in which order, and who refuses."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from rackwright import playbook
from rackwright.playbook import run

ROOT = Path(__file__).resolve().parents[2]
KUBECTL = Path(__file__).with_name("kubectl.py")
HERE = {
    "ansible_connection": "local", "ansible_become": False, "ansible_python_interpreter": sys.executable,
}  # fmt: skip
LAB = ["gpu-01", "gpu-02", "gpu-03", "train-01", "agents-01", "control-01", "control-02", "control-03"]
CONTROL = LAB[5:]


def asked_ansible(*arguments, program="ansible-playbook"):
    program = Path(sys.executable).with_name(program)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
    return subprocess.run(
        [program, *map(str, arguments)], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("site", ["example", "lab", "workstation"])
def test_every_playbook_parses_on_every_sample(site):
    playbooks = sorted((ROOT / "playbooks").glob("*.yml"))
    result = asked_ansible("-i", f"inventory/{site}", "--syntax-check", *playbooks)
    assert result.returncode == 0, result.stdout + result.stderr


def hosts_of_plays(*arguments):
    """Hosts of each play, by its name."""
    result = asked_ansible("-i", "inventory/lab", "--list-hosts", *arguments)
    assert result.returncode == 0, result.stdout + result.stderr
    plays, found = {}, []
    for line in map(str.strip, result.stdout.splitlines()):
        if line.startswith("play #"):
            found = plays.setdefault(line.partition("): ")[2].partition("\t")[0], [])
        elif line in LAB:
            found.append(line)
    return plays


def test_a_node_that_comes_is_the_only_host_of_every_play():
    plays = hosts_of_plays("playbooks/node.yml", "-e", "node=gpu-02 act=add phase=2")
    assert {name for hosts in plays.values() for name in hosts} == {"gpu-02"}
    assert plays["Prove the machines and their cluster"] == ["gpu-02"]
    assert plays["Have the others join side by side"] == ["gpu-02"]


def test_of_a_node_that_goes_only_servers_are_asked_besides():
    plays = hosts_of_plays("playbooks/node.yml", "-e", "node=control-02 act=remove phase=2")
    assert set(plays["See which servers of the cluster answer"]) == {"control-01", "control-03"}
    assert plays["Take it out"] == ["control-02"]
    assert not plays["Provision the machines"]
    assert not plays["Compare the machines with their site"]


def test_an_upgrade_comes_to_every_node_once_and_to_servers_first():
    plays = hosts_of_plays("playbooks/upgrade.yml", "-e", "upgrade=kubernetes phase=2")
    assert set(plays.pop("See that nothing stands in the way, before a node is touched")) == set(LAB)
    assert sorted(name for hosts in plays.values() for name in hosts) == sorted(LAB)
    listed = asked_ansible(
        "-i", "inventory/lab", "kubernetes_control:kubernetes_workers", "--list-hosts", program="ansible"
    )
    assert listed.stdout.split()[2:] == [*CONTROL, *LAB[:5]]


def test_a_node_is_touched_alone_and_the_first_bad_one_ends_it():
    look, *plays = yaml.safe_load((ROOT / "playbooks/upgrade.yml").read_text())
    assert look["any_errors_fatal"] is True
    assert "serial" not in look
    assert all((play["serial"], play["any_errors_fatal"]) == (1, True) for play in plays)


@pytest.mark.parametrize("name", ["preflight", "verify"])
def test_a_host_that_does_not_answer_is_told_within_20_seconds(name):
    (play,) = yaml.safe_load((ROOT / f"playbooks/{name}.yml").read_text())
    attempts = 1 + play["vars"]["ansible_ssh_retries"]
    assert attempts * play["vars"]["ansible_ssh_timeout"] <= 15  # what is left is for Ansible to start and to judge


@pytest.fixture
def cluster(tmp_path):
    """A cluster that is played: its state, and kubectl for it."""

    class Cluster:
        file = tmp_path / "cluster.json"
        kubectl = [sys.executable, str(KUBECTL), str(tmp_path / "cluster.json")]  # noqa: RUF012

        def write(self, names=LAB, *, version="v1.36.3", cordoned=(), silent=(), well=CONTROL):
            nodes = {
                name: {
                    "metadata": {"name": name, "annotations": {}},
                    "spec": {"unschedulable": True} if name in cordoned else {},
                    "status": {
                        "conditions": [{"type": "Ready", "status": "Unknown" if name in silent else "True"}],
                        "nodeInfo": {"kubeletVersion": version},
                    },
                }
                for name in names
            }
            state = {"nodes": nodes, "asked": [], "members": CONTROL, "well": list(well)}
            self.file.write_text(json.dumps(state))

        def state(self):
            return json.loads(self.file.read_text())

        def changes(self):
            return [
                line for line in self.state()["asked"] if line.split()[0] in {"annotate", "drain", "uncordon", "delete"}
            ]

    played = Cluster()
    played.write()
    return played


@pytest.fixture
def play(cluster, tmp_path, monkeypatch):
    """Run a real playbook on this machine, in which nothing is changed: each of these runs is refused, or a dry one."""
    folder = tmp_path / "lab"
    (folder / "group_vars" / "all").mkdir(parents=True)
    (folder / "site.yml").write_text((ROOT / "inventory/lab/site.yml").read_text())
    (folder / "group_vars/all/here.yml").write_text(yaml.safe_dump(HERE))
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "ansible"))

    def run_it(name, *, check=True, **told):
        variables = {"phase": 2, "node_kubectl": cluster.kubectl, "node_minutes": 0, **told}
        return run(name, folder, variables, options=["--check"] if check else [])

    return run_it


def said(ended):
    return " ".join(came.words for came in ended.hosts.values())


class TestUpgradeIsRefused:
    def test_before_any_node_is_touched(self, play, cluster):
        cluster.write(version="v1.34.2", silent=["gpu-02"])
        ended = play("upgrade", upgrade="kubernetes", check=False, confirm="lab")
        assert ended.code != 0
        assert "gpu-02 is not Ready" in said(ended)
        assert "minors are passed one by one. Write 1.35 into" in said(ended)
        assert "No host was touched" in said(ended)
        assert cluster.changes() == []

    def test_without_the_sites_name(self, play, cluster):
        ended = play("upgrade", upgrade="kubernetes", check=False, confirm="yes")
        assert "answer with the site's name, lab" in said(ended)
        assert cluster.state()["asked"] == []


class TestANodeThatLeavesIsRefused:
    @pytest.mark.parametrize(
        ("broken", "told", "words"),
        [
            ({"silent": ["gpu-02"]}, {"node": "gpu-02"}, "is not Ready in its cluster: mend it, or say -e dead=true"),
            ({}, {"node": "gpu-02", "dead": True}, "gpu-02 is Ready in its cluster: take dead away"),
            ({"well": CONTROL[:2]}, {"node": "control-01"}, "Without control-01 etcd has 2 members"),
        ],
    )
    def test_and_nothing_is_changed(self, play, cluster, broken, told, words):
        cluster.write(**broken)
        ended = play("node", act="remove", confirm=told["node"], check=False, **told)
        assert ended.code != 0
        assert words in said(ended)
        assert cluster.changes() == []
        assert all(not came.counts["changed"] for came in ended.hosts.values())

    @pytest.mark.parametrize(
        "told",
        [
            {"node": "gpu-02", "act": "remove", "confirm": "gpu-03"},
            {"node": "gpu-9", "act": "add"},
            {"node": "gpu-01", "act": "remove", "confirm": "gpu-01", "phase": 1},
        ],
    )
    def test_where_it_is_not_meant(self, play, cluster, told):
        ended = play("node", **{"check": False, **told})
        assert ended.code != 0
        assert "Nothing was touched" in said(ended)
        assert cluster.state()["asked"] == []


class TestAMachineThatIsGone:
    """Real runs, not dry ones: nothing of this machine is changed, since the one that leaves is out of reach."""

    @pytest.fixture
    def remove(self, play, cluster, tmp_path, monkeypatch):
        shim = tmp_path / "bin" / "kubectl"
        shim.parent.mkdir()
        shim.write_text(f'#!/bin/sh\nexec {" ".join(cluster.kubectl)} "$@"\n')
        shim.chmod(0o755)
        monkeypatch.setenv("PATH", f"{shim.parent}{os.pathsep}{os.environ['PATH']}")

        def run_it(name, **told):
            dead = {
                "ansible_connection": "ssh",
                "ansible_port": 9,
                "ansible_host": "127.0.0.1",
                "ansible_ssh_retries": 0,
            }
            (tmp_path / "lab" / "host_vars").mkdir()
            (tmp_path / "lab" / "host_vars" / f"{name}.yml").write_text(yaml.safe_dump(dead))
            return play("node", act="remove", node=name, confirm=name, check=False, **told)

        return run_it

    def test_is_taken_out_where_that_is_said_and_no_other_host_changes(self, remove, cluster):
        cluster.write(silent=["gpu-02"])
        ended = remove("gpu-02", dead=True)
        assert ended.code == 0, ended.said
        assert set(cluster.state()["nodes"]) == set(LAB) - {"gpu-02"}
        assert [line.split()[0] for line in cluster.changes()] == ["delete"]
        changed = {name: came.counts["changed"] for name, came in ended.hosts.items() if came.counts["changed"]}
        assert changed == {"gpu-02": 1}

    def test_leaves_etcd_too_where_it_was_a_member(self, remove, cluster):
        cluster.write(silent=["control-02"], well=["control-01", "control-03"])
        ended = remove("control-02", dead=True)
        assert ended.code == 0, ended.said
        assert cluster.state()["members"] == ["control-01", "control-03"]
        assert "control-02" not in cluster.state()["nodes"]
        assert {name for name, came in ended.hosts.items() if came.counts["changed"]} == {"control-02"}

    def test_is_not_taken_for_gone_unless_that_is_said(self, remove, cluster):
        cluster.write(silent=["gpu-02"])
        ended = remove("gpu-02")
        assert "does not answer, or is not Ready" in said(ended)
        assert cluster.changes() == []


class TestTheRoleNode:
    """Drained, found drained, brought back: the role alone, which touches nothing but the cluster that is played."""

    @pytest.fixture
    def act(self, write, cluster):
        def run_it(*entries, **told):
            tasks = [
                {"name": entry, "ansible.builtin.include_role": {"name": "node", "tasks_from": entry}}
                for entry in entries
            ]
            vars_ = {
                "node_name": "gpu-02", "node_through": "gpu-01", "node_kubectl": cluster.kubectl, "node_minutes": 0,
                "node_reason": "driver-1", **told,
            }  # fmt: skip
            write("try", tasks, hosts="gpu-01", vars=vars_)
            return playbook.run("try", ROOT / "inventory/lab", {})

        return run_it

    def test_it_marks_what_it_drains_and_brings_back_what_it_marked(self, act, cluster):
        assert act("drain").code == 0
        node = cluster.state()["nodes"]["gpu-02"]
        assert node["spec"] == {"unschedulable": True}
        assert node["metadata"]["annotations"] == {"rackwright/drained-for": "driver-1"}
        ended = act("drain", "uncordon", "uncordon")
        assert ended.code == 0, ended.said
        node = cluster.state()["nodes"]["gpu-02"]
        assert (node["spec"], node["metadata"]["annotations"]) == ({}, {})
        assert [line.split()[0] for line in cluster.changes()] == ["annotate", "drain", "drain", "uncordon", "annotate"]
        assert not [line for line in cluster.changes() if "--disable-eviction" in line]

    def test_what_somebody_else_cordoned_is_left_alone(self, act, cluster):
        cluster.write(cordoned=["gpu-02"])
        ended = act("drain")
        assert "was cordoned by somebody else" in said(ended)
        assert cluster.changes() == []

    def test_a_node_that_is_alone_is_not_held_up_by_budgets_and_one_that_goes_is_forgotten_once(self, act, cluster):
        assert act("drain", "forget", "forget", node_is_alone=True).hosts["gpu-01"].counts["changed"] == 3
        assert "gpu-02" not in cluster.state()["nodes"]
        assert [line for line in cluster.changes() if "--disable-eviction" in line]
