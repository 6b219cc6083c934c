"""The questions asked of this very machine."""

import ast
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from fleet import site_of
from machine_side import MODULE, QUESTIONS, ask

from rackwright.preflight import judge
from rackwright.preflight.answers import understand
from rackwright.site.catalog import Catalog

WATCHED = (
    "/etc",
    "/var/lib/dpkg",
    "/var/lib/apt",
    "/var/cache/apt",
    "/var/lib/rancher",
    "/var/log/apt",
    "/boot",
    "/srv",
)


def tree(places):
    """Every file's time of change, size and kind below some places, folders themselves as well."""
    found = {}
    for place in places:
        for folder, folders, files in os.walk(place):
            for name in (".", *folders, *files):
                state = os.lstat(Path(folder, name))
                found[f"{folder}/{name}"] = (state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_mode)
    return found


def test_this_machine_answers_and_nothing_on_it_changes(tmp_path):
    before = tree((*WATCHED, tmp_path))
    answers = ask(QUESTIONS | {"flush_folder": str(tmp_path / "not" / "there" / "yet")})
    assert tree((*WATCHED, tmp_path)) == before
    assert answers["unseen"] == {}
    assert answers["flush"]["folder"] == str(tmp_path)
    assert answers["flush"]["tool"] in {"fio", "own probe"}
    assert answers["flush"]["p99_ms"] > 0
    assert understand("here", json.loads(json.dumps(answers))).system.name == socket.gethostname()


@pytest.mark.parametrize("state", ["active", "inactive"])
def test_beside_an_etcd_that_runs_nothing_is_measured(tmp_path, monkeypatch, state):
    said = f"Id=kubelet.service\nLoadState=loaded\nActiveState=inactive\n\nId=k3s.service\nActiveState={state}\n"
    monkeypatch.setattr("preflight_machine.ask.services", lambda: {"code": 0, "out": said, "error": ""})
    answers = ask(QUESTIONS | {"flush_folder": str(tmp_path)})
    assert (answers["flush"] is None) == (state == "active")
    assert "flush" not in answers["unseen"]


def test_this_machine_is_judged_without_a_fault_of_preflights_own():
    found = judge(site_of("ws-01"), 1, Catalog.load(), {"ws-01": ask(QUESTIONS)})
    assert any(each.check in {"memory is the sites", "system is the sites"} for each in found)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become nobody")
def test_without_root_it_answers_what_it_may_and_says_so():
    code = f"import json; from preflight_machine.ask import ask; print(json.dumps(ask({QUESTIONS!r})))"
    program = [sys.executable if _is_open(sys.executable) else "/usr/bin/python3", "-c", code]
    result = subprocess.run(
        program,
        env={"PYTHONPATH": str(MODULE), "PYTHONDONTWRITEBYTECODE": "1"},
        user="nobody",
        group="nogroup",
        cwd="/",
        extra_groups=[],
        capture_output=True,
        text=True,
        check=False,
    )
    if "No module named" in result.stderr:
        pytest.skip("nobody may not read this checkout")
    answers = json.loads(result.stdout)
    assert answers["root"] is False
    assert answers["unseen"] == {}
    assert answers["system"]["meminfo"]


def _is_open(path):
    return all(parent.stat().st_mode & 0o001 for parent in Path(path).resolve().parents)


def test_the_system_python_of_this_machine_runs_it():
    code = f"import json; from preflight_machine.ask import ask; print(json.dumps(ask({QUESTIONS!r})))"
    environment = {"PYTHONPATH": str(MODULE), "PYTHONDONTWRITEBYTECODE": "1"}
    result = subprocess.run(
        ["/usr/bin/python3", "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert json.loads(result.stdout)["unseen"] == {}
    assert result.stderr == ""


def test_it_is_written_in_the_python_of_the_oldest_supported_system():
    for file in (*MODULE.rglob("*.py"), MODULE.parent / "library" / "preflight_facts.py"):
        parsed = ast.parse(file.read_text(), feature_version=(3, 9))
        modules = [node.module for node in parsed.body if isinstance(node, ast.ImportFrom)]
        assert file.name == "__init__.py" or "__future__" in modules, f"{file.name}: annotations are evaluated"


def test_a_section_that_fails_hides_no_other(monkeypatch):
    monkeypatch.setattr("preflight_machine.ask.gpus", lambda: 1 / 0)
    answers = ask(QUESTIONS)
    assert answers["gpus"] is None
    assert answers["unseen"] == {"gpus": "ZeroDivisionError: division by zero"}
    assert answers["system"]
    found = judge(site_of("ws-01"), 1, Catalog.load(), {"ws-01": answers})
    assert [each.what for each in found if each.what.startswith("GPUs")] == [
        "GPUs: ZeroDivisionError: division by zero"
    ]
