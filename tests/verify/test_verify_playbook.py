"""verify.yml by the real Ansible: this machine is no node, a dead host is a fault among others, nothing is changed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
CONNECTION = {"ansible_connection": "local", "ansible_become": False, "ansible_python_interpreter": sys.executable}
DEAD = {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 9}


@pytest.fixture
def play(tmp_path):
    folder = tmp_path / "lab"
    (folder / "group_vars" / "all").mkdir(parents=True)
    (folder / "host_vars").mkdir()
    (folder / "site.yml").write_text((ROOT / "inventory/lab/site.yml").read_text())
    (folder / "group_vars/all/connection.yml").write_text(yaml.safe_dump(CONNECTION))
    (folder / "host_vars/gpu-02.yml").write_text(yaml.safe_dump(DEAD))
    report = tmp_path / "report.json"

    def run(*options):
        program = Path(sys.executable).with_name("ansible-playbook")
        command = [program, "-i", folder, "playbooks/verify.yml", "-e", f"verify_report={report}", *options]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
        environment |= {"ANSIBLE_HOME": str(tmp_path / "ansible")}
        ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        return ended, json.loads(report.read_text())["data"]

    return run


def test_a_machine_that_is_no_node_is_wrong_and_a_dead_host_hides_none(play):
    ended, data = play("-e", "phase=2", "--limit", "control-01,gpu-02")
    assert ended.returncode == 2, ended.stdout + ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr
    assert sorted(data["hosts"]) == ["control-01", "gpu-02"]
    wrong = {(each["host"], each["check"]) for each in data["findings"] if each["kind"] == "wrong"}
    assert ("gpu-02", "host answers") in wrong
    assert ("control-01", "nodes are the sites") in wrong
    assert ("control-01", "volume groups are there") not in wrong  # it has none by the site
    assert data["summary"] in ended.stdout
    assert "changed=1" not in ended.stdout


def test_a_dry_run_shows_it_and_does_not_fail(play):
    ended, data = play("--check", "--limit", "gpu-01")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert not data["succeeded"]
    assert data["phase"] == 1
    assert {each["check"] for each in data["findings"]} >= {"nodes are the sites", "gpus are driven"}
