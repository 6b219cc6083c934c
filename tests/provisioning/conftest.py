"""A checkout whose playbooks are a test's own, and whose hosts are this machine."""

import shutil
from pathlib import Path

import pytest
import yaml

from rackwright import playbook

ROOT = Path(__file__).resolve().parents[2]
HERE = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """The folder; `run` starts its playbooks."""
    folder = tmp_path / "checkout"
    (folder / "playbooks").mkdir(parents=True)
    shutil.copy(ROOT / "ansible.cfg", folder)
    (folder / "inventory").symlink_to(ROOT / "inventory")
    for name in ("inventory_plugins", "callback_plugins", "filter_plugins", "roles"):
        (folder / "playbooks" / name).symlink_to(ROOT / "playbooks" / name)
    monkeypatch.setattr(playbook, "ROOT", folder)
    for name in ("ANSIBLE_CONFIG", "ANSIBLE_CALLBACK_PLUGINS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "ansible"))
    return folder


@pytest.fixture
def write(checkout):
    """Write a playbook of one play on this machine."""

    def write(name, tasks, hosts="gpu-01,gpu-02,gpu-03,train-01", **play):
        whole = {
            "name": "Try",
            "hosts": hosts,
            "gather_facts": False,
            "vars": HERE | play.pop("vars", {}),
            **play,
            "tasks": tasks,
        }
        (checkout / "playbooks" / f"{name}.yml").write_text(yaml.safe_dump([whole], sort_keys=False))

    return write
