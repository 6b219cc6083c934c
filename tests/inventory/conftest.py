"""Ansible's own programs, started at the root of the checkout as a user starts them."""

import copy
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def ansible(tmp_path: Path) -> Run:
    """Run one of Ansible's programs; its own state goes to a folder of the test."""

    def run(program: str, *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
        environment |= {"ANSIBLE_HOME": str(tmp_path / "ansible"), "COLUMNS": "80", **variables}
        command = [Path(sys.executable).with_name(program), *map(str, arguments)]
        if program == "ansible-playbook":  # the play runs here, where only this Python is sure to be
            command += ["-e", f"ansible_python_interpreter={sys.executable}"]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    return run


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A copy of the sample with everything, in a folder of its own."""
    folder = tmp_path / "lab"
    folder.mkdir()
    (folder / "site.yml").write_text((ROOT / "inventory" / "lab" / "site.yml").read_text())
    return folder


@pytest.fixture
def rack(tmp_path: Path) -> Callable[[int], Path]:
    """The same site with many more inference servers."""

    def make(hosts: int) -> Path:
        data = yaml.safe_load((ROOT / "inventory" / "lab" / "site.yml").read_text())
        data["networks"]["nodes"]["cidr"] = "10.30.0.0/16"
        data["networks"]["storage"]["cidr"] = "10.31.0.0/16"
        data["hosts"] = [_moved(host) for host in data["hosts"]]
        model = next(host for host in data["hosts"] if host["name"] == "gpu-02")
        data["hosts"] += [_another(model, number) for number in range(hosts - len(data["hosts"]))]
        folder = tmp_path / f"rack-{hosts}"
        folder.mkdir()
        (folder / "site.yml").write_text(yaml.safe_dump(data, sort_keys=False))
        return folder

    return make


def _moved(host: dict[str, Any]) -> dict[str, Any]:
    if "storage_address" not in host:
        return host
    return host | {"storage_address": host["storage_address"].replace("10.30.1.", "10.31.0.")}


def _another(model: dict[str, Any], number: int) -> dict[str, Any]:
    host = copy.deepcopy(model)
    place = f"{1 + number // 200}.{1 + number % 200}"
    host |= {"name": f"gpu-{1000 + number}", "address": f"10.30.{place}", "storage_address": f"10.31.{place}"}
    for index, disk in enumerate(host["disks"]):
        disk["path"] += f"-{number:04d}{index}"
    return host
