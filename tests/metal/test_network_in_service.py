"""A host that serves a cluster keeps its network: by the real Ansible, with a systemctl of the test's own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from rackwright.metal.network import in_service

ROOT = Path(__file__).resolve().parents[2]
TASKS = ROOT / "playbooks/roles/network/tasks"


@pytest.mark.parametrize(
    ("said", "at_work"),
    [
        ("active\ninactive\n", "kubelet"),
        ("inactive\nactive\n", "k3s"),
        ("active\nactive\n", "kubelet and k3s"),
        ("inactive\ninactive\n", ""),
        ("activating\nunknown\n", ""),  # a kubelet that waits for its cluster ends every ten seconds
        ("", ""),
    ],
)
def test_a_service_that_is_up_is_named(said, at_work):
    assert in_service(said) == at_work


def run(tmp_path, said, code, *options):
    """The role's tasks on a machine whose systemd says this."""
    program = tmp_path / "systemctl"
    program.write_text(f"#!/bin/sh\nprintf '{said}'\nexit {code}\n")
    program.chmod(0o755)
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        "vars": {"network_host": {"name": "gpu-01"}},
        "tasks": [{"name": "Look", "ansible.builtin.include_tasks": str(TASKS / "in_service.yml")}],
    }
    file = tmp_path / "play.yml"
    file.write_text(yaml.safe_dump([play]))
    environment = {
        **os.environ,
        "PATH": f"{tmp_path}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_FILTER_PLUGINS": str(ROOT / "playbooks/filter_plugins"),
    }
    command = ["ansible-playbook", "--inventory=localhost,", "--connection=local", *options, file]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, " ".join(done.stdout.split())


@pytest.mark.parametrize("options", [(), ("--check",)])
def test_a_node_is_told_how_to_drain(tmp_path, options):
    code, words = run(tmp_path, "inactive\\nactive\\n", 3, *options)
    assert code
    assert "kubectl drain gpu-01" in words
    assert "systemctl stop k3s" in words


def test_a_host_without_a_cluster_goes_on(tmp_path):
    code, words = run(tmp_path, "inactive\\ninactive\\n", 4)
    assert code == 0, words


def test_it_is_asked_before_anything_is_tried():
    names = [task["name"] for task in yaml.safe_load((TASKS / "main.yml").read_text())]
    assert names.index("Leave a host alone that serves a cluster") < names.index("Try the wished network")
