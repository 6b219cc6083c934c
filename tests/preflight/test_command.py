"""`rackwright preflight` as a process, on this machine and on none."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from fleet import MACHINES, ROOT

from rackwright import playbook
from rackwright.secrets import throw_away
from rackwright.site.site import Site

PROGRAM = Path(sys.executable).with_name("rackwright")


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "bench"
    (folder / "group_vars" / "all").mkdir(parents=True)
    (folder / "site.yml").write_text((MACHINES / "site.yml").read_text())
    (folder / "group_vars" / "all" / "connection.yml").write_text(
        yaml.safe_dump(
            {"ansible_connection": "local", "ansible_become": False, "ansible_python_interpreter": sys.executable}
        )
    )
    return folder


@pytest.fixture
def preflight(tmp_path):
    def run(*arguments, cwd=ROOT):
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "RACKWRIGHT_"))
        }
        environment["ANSIBLE_HOME"] = str(tmp_path / "ansible")
        command = [PROGRAM, "preflight", *map(str, arguments)]
        return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)

    return run


def test_one_host_as_json_from_another_folder(preflight, site, tmp_path):
    result = preflight(site.name, "--phase", "2", "--limit", "agents-01", "--json", cwd=tmp_path)
    assert result.returncode == 1, result.stderr
    answer = json.loads(result.stdout)
    assert answer["succeeded"] is False
    assert [host["name"] for host in answer["hosts"]] == ["agents-01"]
    assert all(set(each) == {"host", "check", "weight", "what", "cure"} for each in answer["findings"])
    assert "asking 1 host of bench, phase 2" in result.stderr


def test_the_table_is_the_playbooks(preflight, site):
    result = preflight(site, "--limit", "gpu-01")
    assert result.returncode == 1
    assert "gpu-01  forbids" in result.stdout
    assert "Traceback" not in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--limit", "gpu-1", "--phase", "2"), "has no host gpu-1 in phase 2.\nDid you mean gpu-01?\n"),
        (("--limit", "agents-01"), "has no host agents-01 in phase 1.\nIt is of another: add --phase 2.\n"),
        (("--limit", ","), "No host is named.\nHosts of phase 1: gpu-01."),
    ],
)
def test_a_wrong_limit_is_refused_before_anything_starts(preflight, site, arguments, words):
    result = preflight(site, *arguments)
    assert result.returncode == 1
    assert words in result.stderr


def test_a_phase_that_the_site_has_not(preflight):
    result = preflight("inventory/workstation", "--phase", "2", "--json")
    assert result.returncode == 1
    assert json.loads(result.stdout)["what"] == "The site workstation has no phase 2."
    assert preflight("inventory/workstation", "--phase", "3").returncode == 2


def test_a_vault_that_does_not_open_is_said_in_a_sentence(preflight, site):
    vault = throw_away(Site.load(site), site)
    vault.password_file.write_text("another password\n")
    result = preflight(site)
    assert result.returncode == 1
    assert len(result.stderr.strip().splitlines()) == 2
    assert str(vault.file) in result.stderr


def test_a_playbook_that_ends_without_a_verdict_is_said_with_its_reason(preflight, site):
    (site / "group_vars" / "all" / "broken.yml").write_text("a: [\n")
    result = preflight(site)
    assert result.returncode == 1
    assert "before anything was judged" in result.stderr
    assert "Traceback" not in result.stderr


def test_without_ansible_it_says_what_brings_it(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(playbook.Refusal, match="bin/rackwright"):
        playbook.run("preflight", tmp_path, {})
