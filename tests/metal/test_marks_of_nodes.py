"""Labels and taints by the role's own tasks, through the real Ansible and kubectl, on a real API server."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
TASKS = ROOT / "playbooks/roles/kubernetes/tasks/marks.yml"
NODE = "marked-01"
PREFERRED = {"key": "rackwright/training", "effect": "PreferNoSchedule"}


@pytest.fixture
def node(control_plane):
    """A node that joined before its host's roles changed, and that somebody has cordoned in his own way."""
    marks = {"kubernetes.io/hostname": NODE, "rackwright/training": "true"}
    taints = [PREFERRED, {"key": "somebody/else", "effect": "NoSchedule"}]
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE, "labels": marks}, "spec": {"taints": taints}}
    control_plane.kubectl("create", "--filename=-", given=json.dumps(node))
    yield lambda: json.loads(control_plane.kubectl("get", "node", NODE, "--output=json"))
    control_plane.kubectl.delete("node", NODE)


def run(control_plane, toolbox, tmp_path, *options) -> str:
    """The tasks on this machine, as they run for a host; what Ansible says at the end."""
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        "vars": {
            "__kubernetes_admin": str(control_plane.kubeconfig),
            "__kubernetes_through": "localhost",
            "kubernetes_name": NODE,
            "kubernetes_labels": {"rackwright/agents": "true"},
            "kubernetes_taints": [{"key": "rackwright/agents", "effect": "NoSchedule"}],
        },
        "tasks": [{"name": "Marks", "ansible.builtin.include_tasks": str(TASKS)}],
    }
    file = tmp_path / "play.yml"
    file.write_text(yaml.safe_dump([play]))
    programs = [str(toolbox["kubectl"].path.parent), str(Path(sys.executable).parent), os.environ["PATH"]]
    environment = {
        **os.environ,
        "PATH": ":".join(programs),
        "HOME": str(tmp_path),
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_FILTER_PLUGINS": str(ROOT / "playbooks/filter_plugins"),
    }
    done = subprocess.run(
        ["ansible-playbook", "--inventory=localhost,", "--connection=local", *options, file],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return re.search(r"changed=\d+", done.stdout)[0]


def test_a_node_gets_the_marks_of_its_roles_once(control_plane, toolbox, node, tmp_path):
    before = node()
    assert run(control_plane, toolbox, tmp_path, "--check") == "changed=0"
    assert node()["metadata"]["labels"] == before["metadata"]["labels"]
    assert run(control_plane, toolbox, tmp_path) == "changed=2"
    assert node()["metadata"]["labels"]["rackwright/agents"] == "true"
    assert "rackwright/training" not in node()["metadata"]["labels"]
    kept = {(each["key"], each["effect"]) for each in node()["spec"]["taints"]}
    assert kept >= {("rackwright/agents", "NoSchedule"), ("somebody/else", "NoSchedule")}
    assert "rackwright/training" not in {key for key, _ in kept}
    assert run(control_plane, toolbox, tmp_path) == "changed=0"
