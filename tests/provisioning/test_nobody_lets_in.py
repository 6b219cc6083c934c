"""Hosts that do not answer, and hosts that take no sudo password: each playbook says why, and changes nothing.

The port that refuses and Ansible are real; the sudo that refuses is played.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from rackwright.secrets import Secret, Vault, fill
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]
SUDO = "#!/bin/sh\necho 'sudo: Sorry, try again.' >&2\nexit 1\n"
SILENT = {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 9, "ansible_ssh_retries": 0}
WITHOUT_SUDO = ["gpu-03", "train-01", "control-01", "control-02", "control-03"]
GONE = ["gpu-01", "gpu-02", "agents-01"]
REFUSED, UNREACHABLE = "Sorry, try again", "Connection refused"


@pytest.fixture
def lab(tmp_path):
    folder = tmp_path / "lab"
    (folder / "host_vars").mkdir(parents=True)
    (folder / "site.yml").write_text((ROOT / "inventory/lab/site.yml").read_text())
    fill(Site.load(folder), Vault.of(folder), Secret.generate)
    sudo = tmp_path / "sudo"
    sudo.write_text(SUDO)
    sudo.chmod(0o755)
    refusing = {
        "ansible_connection": "local", "ansible_become_user": "nobody", "ansible_become_exe": str(sudo),
        "ansible_become_password": "wrong", "ansible_python_interpreter": sys.executable,
    }  # fmt: skip
    for name in (*GONE, *WITHOUT_SUDO):
        (folder / "host_vars" / f"{name}.yml").write_text(yaml.safe_dump(SILENT if name in GONE else refusing))
    return folder


@pytest.mark.parametrize(
    ("playbook", "told", "said"),
    [
        (
            "site",
            {"phase": 2},
            [REFUSED, UNREACHABLE, "Preflight of lab, phase 2: 8 hosts asked", "ansible_become_password"],
        ),
        ("provision", {"phase": 2}, [REFUSED, UNREACHABLE]),
        ("k3s", {"phase": 1}, [UNREACHABLE]),
        ("kubernetes", {"phase": 2}, [REFUSED, UNREACHABLE]),
        ("verify", {"phase": 2}, [REFUSED, UNREACHABLE, "Proof of lab, phase 2: 8 hosts asked"]),
        ("upgrade", {"phase": 2, "upgrade": "driver", "confirm": "lab"}, [REFUSED]),
        ("node", {"phase": 2, "node": "gpu-02", "act": "remove", "confirm": "gpu-02"}, [REFUSED]),
        (
            "node",
            {"phase": 2, "node": "gpu-02", "act": "add"},
            [UNREACHABLE, "Preflight of lab, phase 2: 1 host asked"],
        ),
        ("reset", {"reset_hosts": "gpu-01,gpu-03", "confirm": "lab"}, [REFUSED, UNREACHABLE]),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_it_is_said_and_nothing_is_changed(lab, tmp_path, playbook, told, said):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
    variables = [word for name, value in told.items() for word in ("-e", f"{name}={value}")]
    done = subprocess.run(
        [Path(sys.executable).with_name("ansible-playbook"), "-i", lab, f"playbooks/{playbook}.yml", *variables],
        cwd=ROOT,
        env={**environment, "ANSIBLE_HOME": str(tmp_path / "ansible")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in {2, 4}, done.stdout + done.stderr
    for words in said:
        assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    recap = done.stdout.rpartition("PLAY RECAP")[2].splitlines()[1:]
    counts = [line for line in recap if "changed=" in line]
    assert counts
    assert all("changed=0 " in line for line in counts), counts
