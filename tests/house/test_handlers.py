"""What every task keeps to, so that a run that was cut off is finished by the next one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

PLAYBOOKS = Path(__file__).resolve().parents[2] / "playbooks"
BLOCKS = ("tasks", "pre_tasks", "post_tasks", "block", "rescue", "always")


def tasks_in(found: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for task in found:
        yield task
        for each in BLOCKS:
            yield from tasks_in(task.get(each) or [])


def tasks() -> Iterator[tuple[Path, dict[str, Any]]]:
    files = [*PLAYBOOKS.glob("*.yml"), *PLAYBOOKS.glob("roles/*/tasks/*.yml")]
    for file in files:
        for task in tasks_in(yaml.safe_load(file.read_text()) or []):
            yield file, task


def test_nothing_hangs_on_a_handler():
    """A run that ends between a file and its handler leaves one that no later run calls: see the role services."""
    assert len(list(tasks())) > 300
    assert not list(PLAYBOOKS.glob("roles/*/handlers"))
    assert not [(file.name, task["name"]) for file, task in tasks() if {"notify", "handlers"} & set(task)]


def test_no_restart_hangs_on_what_this_run_has_changed():
    """A file that the run before has written is not changed by this one, and what reads it was told nothing."""
    for file, task in tasks():
        unit = task.get("ansible.builtin.systemd_service") or {}
        words = f"{unit} {task.get('when') if unit.get('state') in ('restarted', 'reloaded') else ''}"
        assert "is changed" not in words, f"{file}: {task['name']}"


def test_systemd_reads_its_files_again_only_where_one_is_newer():
    """Else it would at every run, for seconds on a busy host: see the role services. A reset has nothing to compare."""
    always = {
        str(file.relative_to(PLAYBOOKS / "roles"))
        for file, task in tasks()
        if (task.get("ansible.builtin.systemd_service") or {}).get("daemon_reload") is True
    }
    resets, upgrade = {"storage/tasks/unmount.yml", "k3s/tasks/reset.yml"}, {"kubernetes/tasks/upgrade_node.yml"}
    assert always == {"services/tasks/main.yml", *resets, *upgrade}


def test_an_empty_file_is_not_taken_for_a_whole_one():
    """What `force: false` leaves alone may be what a power cut left of a file that was just written: nothing."""
    for file, task in tasks():
        for module in ("copy", "template", "get_url"):
            given = task.get(f"ansible.builtin.{module}") or {}
            assert given.get("force", True) is not False, f"{file}: {task['name']}"
