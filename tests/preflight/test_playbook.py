"""The real ansible-playbook, over the connections that there are here: this machine, a dead host, a wrong password."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from fleet import BENCH, MACHINES, ROOT, TOKEN, answers_of, site_of

PLAYBOOK = "playbooks/preflight.yml"
LOCAL = {"ansible_connection": "local"}
PRETENDED = """\
#!/usr/bin/python
import json
from ansible.module_utils.basic import AnsibleModule

NAMES = "time_servers names disks peers doors packages urls flush_folder token_salt".split()
module = AnsibleModule(argument_spec={{name: {{"type": "raw"}} for name in NAMES}}, supports_check_mode=True)
with open({answers!r}) as file:
    module.exit_json(changed=False, answers=json.load(file)[module.params["disks"][0]])
"""
UNREACHABLE = {"ansible_host": "127.0.0.1", "ansible_port": 9, "ansible_ssh_common_args": "-o ConnectTimeout=3"}


@pytest.fixture
def site(tmp_path):
    """The bench with what is needed to reach it: here, each host is this machine unless a test says otherwise."""
    folder = tmp_path / "bench"
    (folder / "group_vars" / "all").mkdir(parents=True)
    (folder / "host_vars").mkdir()
    (folder / "site.yml").write_text((MACHINES / "site.yml").read_text())
    (folder / "group_vars" / "all" / "connection.yml").write_text(
        yaml.safe_dump(LOCAL | {"ansible_become": False, "ansible_python_interpreter": sys.executable})
    )
    return folder


@pytest.fixture
def play(tmp_path, site):
    """Run the playbook, and give its result and its report."""

    def run(*arguments, phase=2, checkout=ROOT, **variables):
        report = tmp_path / "report.json"
        command = [
            Path(sys.executable).with_name("ansible-playbook"),
            "-i",
            site,
            PLAYBOOK,
            "-e",
            f"preflight_phase={phase}",
        ]
        command += ["-e", f"preflight_report={report}", *arguments]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
        environment |= {"ANSIBLE_HOME": str(tmp_path / "ansible"), "ANSIBLE_SSH_RETRIES": "0", **variables}
        result = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
        data = json.loads(report.read_text())["data"] if report.exists() else None
        return result, data

    return run


def write(site, host, variables):
    (site / "host_vars" / f"{host}.yml").write_text(yaml.safe_dump(variables))


def test_this_machine_is_asked_and_refused_with_a_table(play):
    result, data = play("--limit", "gpu-01,control-01", "--check", "--diff")
    assert result.returncode == 2, result.stdout + result.stderr
    assert "changed=0" in result.stdout
    assert "changed=1" not in result.stdout
    assert "Traceback" not in result.stdout + result.stderr
    assert [host["name"] for host in data["hosts"]] == ["gpu-01", "control-01"]
    assert all(host["answered"] for host in data["hosts"])
    assert "control-01  forbids" in result.stdout
    assert data["summary"] in result.stdout
    measured = {host["name"]: host["flush_tool"] for host in data["hosts"]}
    assert measured["control-01"] in {"fio", "own probe"}
    assert measured["gpu-01"] == ""


def test_with_and_without_check_the_same_is_found(play):
    checked, there = play("--limit", "agents-01", "--check"), play("--limit", "agents-01")
    names = [[(each["check"], each["weight"]) for each in data["findings"]] for _, data in (checked, there)]
    assert names[0] == names[1]


def test_a_dead_host_and_a_wrong_password_are_findings_and_the_others_are_judged(play, site, tmp_path):
    sudo = tmp_path / "sudo"
    sudo.write_text('#!/bin/sh\necho "sudo: a password is required" >&2\nexit 1\n')
    sudo.chmod(0o755)
    write(site, "gpu-02", {"ansible_connection": "ssh", **UNREACHABLE})
    write(site, "gpu-03", {"ansible_become": True, "ansible_become_user": "nobody", "ansible_become_exe": str(sudo)})
    result, data = play("--limit", "gpu-01,gpu-02,gpu-03")
    assert result.returncode == 2
    hosts = {host["name"]: host["answered"] for host in data["hosts"]}
    assert hosts == {"gpu-01": True, "gpu-02": False, "gpu-03": False}
    silent = {each["host"]: each for each in data["findings"] if each["check"] == "host answers"}
    assert "Connection refused" in silent["gpu-02"]["what"] or "connect" in silent["gpu-02"]["what"].lower()
    assert "power" in silent["gpu-02"]["cure"]
    assert "ansible_become_password" in silent["gpu-03"]["cure"], silent["gpu-03"]
    assert any(each["host"] == "gpu-01" for each in data["findings"])


def test_a_host_outside_the_phase_is_not_asked(play):
    result, data = play("--limit", "gpu-01,agents-01", phase=1)
    assert [host["name"] for host in data["hosts"]] == ["gpu-01"]
    assert "skipping: [agents-01]" in result.stdout


def test_only_hosts_outside_the_phase_are_refused_in_a_sentence(play):
    result, data = play("--limit", "agents-01", phase=1)
    assert result.returncode == 2
    assert data is None
    assert "No host of phase 1 of bench was asked." in result.stdout + result.stderr


class TestAFleet:
    """The playbook as it is, with a module that answers what the fixtures say: no such machines are here."""

    @pytest.fixture
    def checkout(self, tmp_path):
        folder = tmp_path / "checkout"
        shutil.copytree(ROOT / "playbooks", folder / "playbooks", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "ansible.cfg", folder)
        (folder / "inventory").symlink_to(ROOT / "inventory")
        module = folder / "playbooks" / "roles" / "preflight_facts" / "library" / "preflight_facts.py"
        module.write_text(PRETENDED.format(answers=str(tmp_path / "answers.json")))
        return folder

    @pytest.fixture
    def fleet(self, play, tmp_path, checkout):
        def run(change=lambda _: None, *arguments):
            answers = {name: answers_of(name) for name in BENCH}
            change(answers)
            by_disk = {host.disks[0].path: answers[host.name] for host in site_of("gpu-01").hosts}
            (tmp_path / "answers.json").write_text(json.dumps(by_disk))
            return play(*arguments, checkout=checkout)

        return run

    def test_in_order_it_goes_on(self, fleet):
        result, data = fleet()
        assert result.returncode == 0, result.stdout + result.stderr
        assert data["findings"] == []
        assert "5 hosts asked, no fault; nothing forbids going on." in result.stdout
        assert "changed=0" in result.stdout

    def test_one_broken_host_of_five_is_named_and_the_others_go_on(self, fleet):
        result, data = fleet(lambda answers: answers["gpu-02"]["system"].update(cores=112))
        assert result.returncode == 2
        assert [(each["host"], each["weight"]) for each in data["findings"]] == [("gpu-02", "forbids")]
        assert {host["name"] for host in data["hosts"] if host["goes_on"]} == set(BENCH) - {"gpu-02"}

    def test_what_a_host_answers_is_no_template(self, fleet):
        result, data = fleet(lambda answers: answers["gpu-02"]["system"].update(name="{{ lookup('pipe', 'id') }}"))
        assert result.returncode == 2
        assert "calls itself {{ lookup('pipe', 'id') }}" in data["findings"][0]["what"]


def test_the_token_of_the_vault_is_compared_and_never_shown(play, site):
    (site / "group_vars" / "all" / "token.yml").write_text(yaml.safe_dump({"k3s_token": TOKEN}))
    result, data = play("--limit", "gpu-01", "-vvv", phase=1)
    assert data is not None
    assert TOKEN not in result.stdout + result.stderr


def test_k3s_is_looked_for_where_the_site_takes_it_from(play, site):
    said = []
    for source in ("http://127.0.0.1:9/k3s", "/srv/k3s"):
        (site / "group_vars" / "all" / "k3s.yml").write_text(yaml.safe_dump({"k3s_binary_source": source}))
        _, data = play("--limit", "gpu-01", phase=1)
        said.append([each["what"] for each in data["findings"] if "where k3s comes from" in each["what"]])
    (what,), folder = said
    assert what.startswith("cannot read http://127.0.0.1:9/k3s/v")
    assert folder == []
