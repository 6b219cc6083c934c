"""The steps on machines: which playbook runs on whom. Ansible is played; what it does is proved on guests elsewhere."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from played_world import lab

from rackwright.errors import Refusal
from rackwright.playbook import Came, Ended
from rackwright.rollout.platform.drain import Drain
from rackwright.rollout.platform.machines import Cleaned, Founded, Joined, Playbooks, Provision, Ready
from rackwright.rollout.platform.weights import Weights
from rackwright.rollout.way import names, way
from rackwright.rollout.world import State

NEW = "gpu-02,gpu-03,train-01,agents-01,control-01,control-02,control-03"


class Played:
    """Ansible, whose hosts all come out alike."""

    def __init__(self, changed=0, failed=0):
        self.calls, self.changed, self.failed = [], changed, failed

    def __call__(self, name, _site, told, *, limit, options, **_more):
        self.calls.append((name, dict(told), limit, options))
        if "preflight_report" in told:
            data = {"succeeded": not self.failed, "summary": "7 hosts, nothing forbids"}
            Path(told["preflight_report"]).write_text(json.dumps({"data": data}))
        hosts = (limit or told.get("reset_hosts") or told["node"]).split(",")
        counts = {"ok": 9, "changed": self.changed, "failed": self.failed, "unreachable": 0}
        words = {"task": "Partition the drive", "words": "it is somebody else's"} if self.failed else {}
        return Ended(2 if self.failed else 0, "", {each: Came(counts, **words) for each in hosts})


class Cluster:
    """Nodes that are there; none where nothing answers."""

    def __init__(self, ready=None, kubeconfig=Path(__file__)):
        self.nodes, self.kubeconfig = ready, kubeconfig

    def ready(self):
        return dict.fromkeys(self.nodes, True)

    def answers(self):
        return self.nodes is not None


@pytest.fixture
def on(tmp_path):
    return lambda run: Playbooks(tmp_path, lambda _: None, run)


def test_only_new_hosts_are_touched_before_phase_1_ends(on):
    found, run = way(lab()), Played()
    provision, founded = Provision(found, on(run)), Founded(found, on(run), Cluster())
    assert provision.look().state is State.DONE
    provision.do()
    assert founded.look().state is State.ABSENT
    founded.do()
    founded.undo()
    Ready(on(run), names(found.new))()
    assert [call[0] for call in run.calls] == ["provision", "provision", "reset", "site", "reset", "preflight"]
    assert [call[3] for call in run.calls[:4]] == [["--check"], [], ["--check"], []]
    for name, told, limit, _ in run.calls:
        assert (limit or told["reset_hosts"]) == NEW, name
        assert "gpu-01" not in json.dumps(told)
        assert 2 in (told.get("phase"), told.get("preflight_phase"))


def test_what_a_dry_run_would_change_is_not_done_yet(on):
    found = Provision(way(lab()), on(Played(changed=2))).look()
    assert found.state is State.ABSENT
    assert found.words.startswith("gpu-02, gpu-03, train-01")


def test_a_host_that_went_wrong_ends_the_step_with_its_words(on):
    with pytest.raises(Refusal, match="gpu-02 at Partition the drive: it is somebody else's") as refusal:
        Provision(way(lab()), on(Played(failed=1))).do()
    assert "ansible-playbook" in refusal.value.cure
    assert not Ready(on(Played(failed=1)), ["gpu-02"])().passed


def test_the_cluster_is_founded_when_each_new_host_is_a_ready_node(on):
    found = way(lab())
    hosts = list(names(found.new))
    assert Founded(found, on(Played()), Cluster(hosts)).look().state is State.DONE
    assert Founded(found, on(Played()), Cluster(hosts[1:])).look().state is State.TO_FINISH
    nowhere = Founded(found, on(Played()), Cluster(hosts, Path("/nowhere/kubeconfig")))
    assert nowhere.look().state is State.ABSENT
    half = Founded(found, on(Played(changed=1)), Cluster(None)).look()
    assert half.state is State.TO_FINISH, "an API that is silent may have left a part of a cluster"
    assert half.words.endswith(f"and {NEW.replace(',', ', ')} has a part of a cluster")


def test_the_old_server_is_cleaned_of_phase_1_and_joins_phase_2(on):
    found, run = way(lab()), Played()
    Cleaned(found, on(run)).do()
    joined = Joined(found, on(run), Cluster(names(found.new)))
    assert joined.look().state is State.ABSENT
    joined.do()
    assert Joined(found, on(run), Cluster([*names(found.new), "gpu-01"])).look().state is State.DONE
    (reset, told, _, _), (node, more, _, _) = run.calls
    assert (reset, told["phase"], told["reset_hosts"], told["reset_drives"]) == ("reset", 1, "gpu-01", "")
    assert (node, more["phase"], more["node"], more["act"]) == ("node", 2, "gpu-01", "add")


def test_an_old_server_is_clean_when_a_reset_would_take_nothing_off_it(on):
    run = Played()
    assert Cleaned(way(lab()), on(run)).look().state is State.DONE
    dry = Cleaned(way(lab()), on(Played(changed=3))).look()
    assert (dry.state, dry.words) == (State.ABSENT, "gpu-01 still has what is phase 1's")
    ((name, told, _, options),) = run.calls
    assert (name, told["phase"], options) == ("reset", 1, ["--check"])


KUBECTL = """#!/bin/sh
echo "$*" >> calls
case "$1 $2" in
  "get nodes") cat nodes;;
  "get pods") cat pods;;
  "drain gpu-01") cp drained-nodes nodes; cp drained-pods pods;;
esac
"""


def test_a_drained_server_runs_only_what_belongs_to_the_node(tmp_path):
    def node(**spec):
        return json.dumps({"items": [{"metadata": {"name": "gpu-01"}, "spec": spec}]})

    def pods(*owners):
        return json.dumps({"items": [
            {"metadata": {"ownerReferences": [{"kind": kind}]}, "spec": {"nodeName": "gpu-01"},
             "status": {"phase": "Running"}}
            for kind in owners
        ]})  # fmt: skip

    written = {
        "kubectl": KUBECTL, "nodes": node(), "pods": pods("ReplicaSet", "DaemonSet"),
        "drained-nodes": node(unschedulable=True), "drained-pods": pods("DaemonSet"),
    }  # fmt: skip
    for name, text in written.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "kubectl").chmod(0o700)
    drain = Drain(tmp_path, [str(tmp_path / "kubectl")], ["gpu-01"])
    assert drain.look().state is State.ABSENT
    (tmp_path / "nodes").write_text(node(unschedulable=True))
    assert drain.look().state is State.TO_FINISH
    drain.do()
    assert drain.look().state is State.DONE
    assert "drain gpu-01 --ignore-daemonsets --delete-emptydir-data" in (tmp_path / "calls").read_text()


def engine(model, *, ready, **more):
    condition = {"type": "Ready", "status": str(ready)}
    labels = {"app.kubernetes.io/name": "vllm", "app.kubernetes.io/instance": model}
    metadata = {"name": f"{model}-0", "labels": labels, **more}
    return {"metadata": metadata, "status": {"conditions": [condition]}}


def test_weights_are_there_when_every_engine_is_ready():
    pods, said = [], []

    def then(_):
        pods[:] = [engine("llama", ready=True), engine("qwen", ready=True)]

    access = SimpleNamespace(raw=lambda _: json.dumps({"items": pods}))
    weights = Weights(access, ("llama", "qwen"), said.append, sleep=then)
    assert weights.look().state is State.ABSENT
    pods[:] = [engine("llama", ready=True)]
    assert (weights.look().state, weights.look().words) == (State.TO_FINISH, "not ready: qwen")
    pods[:] = [
        engine("llama", ready=True),
        engine("qwen", ready=False),
        engine("old", ready=False, deletionTimestamp="x"),
    ]
    assert not weights.there().passed
    weights.do()
    assert (weights.there().passed, weights.there().seen) == (True, "2 engines are ready")
    hours = iter(range(0, 100_000_000, 3600))
    pods[:] = []
    late = Weights(access, ("llama",), said.append, sleep=lambda _: None, clock=lambda: next(hours))
    with pytest.raises(Refusal, match="After 6 hours: no engine is there yet"):
        late.do()
