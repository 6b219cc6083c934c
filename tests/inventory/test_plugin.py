"""The real ansible-inventory and ansible-playbook on real site files."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rackwright.secrets import Secret, Vault, fill, open_vault
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]
PLAY = """
- name: Touch
  hosts: {hosts}
  connection: local
  gather_facts: false
  tasks:
    - name: Leave a mark
      ansible.builtin.copy:
        content: "{content}"
        dest: "{mark}"
        mode: "0644"
"""


@pytest.fixture
def play(tmp_path):
    def write(content: str, hosts: str = "all") -> Path:
        file = tmp_path / "play.yml"
        file.write_text(PLAY.format(hosts=hosts, content=content, mark=tmp_path / "{{ inventory_hostname }}"))
        return file

    return write


@pytest.mark.parametrize("name", ["example", "lab", "workstation"])
def test_every_sample_is_an_inventory(ansible, name):
    for source in (f"inventory/{name}", f"inventory/{name}/site.yml"):
        result = ansible("ansible-inventory", "-i", source, "--graph")
        assert result.returncode == 0
        assert "@k3s_server:" in result.stdout
        assert "WARNING" not in result.stderr


def test_a_host_knows_itself_and_its_site(ansible):
    result = ansible("ansible-inventory", "-i", "inventory/lab", "--host", "train-01")
    variables = json.loads(result.stdout)
    assert variables["ansible_host"] == "10.30.0.21"
    assert variables["host"]["roles"] == ["training"]
    assert variables["site"]["networks"]["nodes"]["mtu"] == 9000
    assert variables["catalog"]["kubernetes"]["minor"]


def test_a_play_reads_both_and_runs_where_it_is_told(ansible, play, tmp_path):
    content = "{{ site.name }} {{ host.gpus.product }} {{ catalog.drivers[site.gpu.driver_branch | string].version }}"
    result = ansible("ansible-playbook", "-i", "inventory/lab", play(content, "phase1:&inference"))
    assert result.returncode == 0, result.stdout + result.stderr
    assert (tmp_path / "gpu-01").read_text().startswith("lab h100_sxm 580.")
    assert not (tmp_path / "gpu-02").exists()


def test_braces_in_a_site_are_text(ansible, lab, play, tmp_path):
    file = lab / "site.yml"
    file.write_text(file.read_text().replace("s3: weights/qwen3-32b", 's3: "weights/{{6*7}}"'))
    result = ansible("ansible-playbook", "-i", lab, play("{{ site.models[1].source.s3 }}", "k3s_server"))
    assert result.returncode == 0, result.stdout + result.stderr
    assert (tmp_path / "gpu-01").read_text() == "weights/{{6*7}}"


class TestABrokenSite:
    @pytest.fixture
    def broken(self, lab):
        file = lab / "site.yml"
        text = file.read_text().replace("mtu: 9000", "mtuu: 9000", 1).replace("cores: 128", "cores: many", 1)
        file.write_text(text)
        return lab

    def test_fails_the_play_before_any_host_and_shows_the_same_lines(self, ansible, broken, play, tmp_path):
        result = ansible("ansible-playbook", "-i", broken, play("x"))
        assert result.returncode != 0
        assert not (tmp_path / "gpu-01").exists()
        assert "PLAY" not in result.stdout
        program = Path(sys.executable).with_name("rackwright")
        said = subprocess.run([program, "validate", broken], capture_output=True, text=True, check=False).stderr
        lines = said.splitlines()[1:]
        assert len(lines) >= 2
        for line in lines:
            assert result.stderr.splitlines().count(line) == 1
        assert "Traceback" not in result.stderr

    def test_fails_every_program(self, ansible, broken):
        for program, *arguments in (("ansible-inventory", "--graph"), ("ansible", "all", "-m", "debug")):
            assert ansible(program, "-i", broken, *arguments).returncode != 0

    @pytest.mark.parametrize("text", ["", "\t- a", "[1, 2", "&a [*a]", "\x00", "just words"])
    def test_whatever_is_wrong_with_it(self, ansible, lab, text):
        (lab / "site.yml").write_text(text)
        result = ansible("ansible-inventory", "-i", lab, "--graph")
        assert result.returncode != 0
        assert "Traceback" not in result.stderr
        assert "No host was contacted" in result.stderr


def test_a_folder_without_a_site_and_no_inventory_at_all_fail(ansible, tmp_path, play):
    (tmp_path / "empty").mkdir()
    for folder in ("empty", "nowhere"):
        assert ansible("ansible-playbook", "-i", tmp_path / folder, play("x")).returncode != 0
    assert ansible("ansible-playbook", play("x")).returncode != 0


def test_what_else_lies_in_the_folder_is_left_alone(ansible, lab):
    (lab / "site.yml.old").write_text("- old")
    (lab / "journal.json").write_text("{}")
    (lab / "plans").mkdir()
    (lab / "plans" / "site.yaml").write_text("x")
    result = ansible("ansible-inventory", "-i", lab, "--graph")
    assert result.returncode == 0, result.stderr
    assert "WARNING" not in result.stderr


@pytest.mark.parametrize(("name", "value"), [("phase", "7"), ("verify_phase", "two"), ("preflight_phase", "0")])
def test_a_phase_that_the_site_has_not_is_refused_by_every_playbook(ansible, lab, play, tmp_path, name, value):
    result = ansible("ansible-playbook", "-i", lab, play("x"), "-e", f"{name}={value}")
    assert result.returncode != 0
    assert f"-e {name}={value} names no phase of the site lab.\nIts phases: 1, 2." in result.stderr
    assert not (tmp_path / "gpu-01").exists()
    assert ansible("ansible-playbook", "-i", lab, play("x"), "-e", f"{name}=2").returncode == 0


def test_two_sites_in_one_run_are_refused(ansible):
    result = ansible("ansible-inventory", "-i", "inventory/lab", "-i", "inventory/example", "--graph")
    assert result.returncode != 0
    assert "Two sites in one run, lab and example" in result.stderr


def test_localhost_needs_no_site(ansible):
    assert ansible("ansible", "localhost", "-i", "localhost,", "-m", "ansible.builtin.debug").returncode == 0


def test_another_python_is_told_what_to_do():
    code = (
        "import importlib.abc, sys\n"
        "class Absent(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name.split('.')[0] == 'rackwright': raise ModuleNotFoundError(f'No module named {name}')\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from ansible.cli.inventory import main\n"
        "main(['ansible-inventory', '-i', 'inventory/lab', '--graph'])"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode != 0
    assert "Run bin/rackwright once, which makes .venv" in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


class TestTheVault:
    @pytest.fixture
    def vault(self, lab, monkeypatch):
        monkeypatch.delenv("ANSIBLE_VAULT_PASSWORD_FILE", raising=False)
        vault = Vault.of(lab)
        fill(Site.load(lab), vault, Secret.generate)
        return vault

    def test_is_read_natively_with_the_password_beside_the_site(self, ansible, lab, vault, play, tmp_path):
        values = vault.read()
        result = ansible("ansible-playbook", "-i", lab, play("{{ k3s_token }} {{ tenant_chat_key }}", "k3s_server"))
        assert result.returncode == 0, result.stdout + result.stderr
        assert (tmp_path / "gpu-01").read_text() == f"{values['k3s_token']} {values['tenant_chat_key']}"
        assert not any(value in result.stdout + result.stderr for value in values.values())

    def test_is_read_natively_with_the_password_that_ansible_was_told(self, ansible, lab, vault, tmp_path):
        elsewhere = vault.password_file.rename(tmp_path / "password")
        host = ("ansible-inventory", "-i", lab, "--host", "gpu-01")
        told = ansible(*host, ANSIBLE_VAULT_PASSWORD_FILE=str(elsewhere))
        assert json.loads(told.stdout)["k3s_token"] == Vault(vault.file, elsewhere).read()["k3s_token"]
        assert json.loads(ansible(*host, "--vault-password-file", elsewhere).stdout)["k3s_token"]

    def test_reaches_localhost_as_well(self, ansible, lab, vault):
        result = ansible("ansible", "localhost", "-i", lab, "-m", "debug", "-a", "var=k3s_token")
        assert open_vault(lab)["k3s_token"] in result.stdout
        assert vault.file.exists()

    def test_without_its_password_fails_in_a_sentence(self, ansible, lab, vault, play):
        vault.password_file.unlink()
        result = ansible("ansible-playbook", "-i", lab, play("x"))
        assert result.returncode != 0
        assert "There is no password for the vault" in result.stderr

    def test_with_another_password_fails(self, ansible, lab, vault, play, tmp_path):
        vault.password_file.write_text("another-Password-4821\n")
        result = ansible("ansible-playbook", "-i", lab, play("x"))
        assert result.returncode != 0
        assert f"{vault.file} does not open with the password of {vault.password_file}" in result.stderr
        assert "Put the right password there" in result.stderr
        assert "PLAY" not in result.stdout
        assert not (tmp_path / "gpu-01").exists()

    def test_with_another_password_that_ansible_was_told_fails_as_soon(self, ansible, lab, vault, play, tmp_path):
        (tmp_path / "other").write_text("another-Password-4821\n")
        result = ansible("ansible-playbook", "-i", lab, play("x"), "--vault-password-file", tmp_path / "other")
        assert result.returncode != 0
        assert f"{vault.file} does not open with the password that Ansible was given" in result.stderr
        assert "PLAY" not in result.stdout


def test_two_hundred_hosts(ansible, rack, play, tmp_path):
    folder = rack(200)
    started = time.monotonic()
    result = ansible("ansible-inventory", "-i", folder, "--list", "--export")
    assert time.monotonic() - started < 20
    listed = json.loads(result.stdout)
    assert len(listed["_meta"]["hostvars"]) == 200
    assert all(set(variables) == {"ansible_host", "host"} for variables in listed["_meta"]["hostvars"].values())
    assert set(listed["all"]["vars"]) == {"site", "catalog"}
    result = ansible("ansible-playbook", "-i", folder, play("{{ site.name }}", "gpu-1100"))
    assert result.returncode == 0, result.stdout + result.stderr
    assert (tmp_path / "gpu-1100").exists()
