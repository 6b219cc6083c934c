"""A run of the real Ansible on this machine, followed host by host; nothing of the machine is changed."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import PATIENCE_S, until

from rackwright.playbook import run

ROOT = Path(__file__).resolve().parents[2]
SECRET = "not-to-be-seen"
TASKS = [
    {"name": "Say it", "ansible.builtin.command": "true", "changed_when": True},
    {
        "name": "Do each",
        "ansible.builtin.command": "{{ item }}",
        "loop": ["true", "ls /no/such"],
        "when": "inventory_hostname == 'gpu-02'",
    },
    {
        "name": "Keep it secret",
        "ansible.builtin.command": f"ls /{SECRET}",
        "no_log": True,
        "when": "inventory_hostname == 'gpu-03'",
    },
    {
        "name": "Mend it",
        "when": "inventory_hostname == 'gpu-01'",
        "block": [{"name": "Break", "ansible.builtin.fail": {"msg": "broken"}}],
        "rescue": [{"name": "Mend", "ansible.builtin.debug": {"msg": "mended"}}],
    },
    {
        "name": "Reach it",
        "ansible.builtin.ping": None,
        "vars": {
            "ansible_connection": "ssh", "ansible_port": 9, "ansible_host": "127.0.0.1", "ansible_ssh_retries": 0,
        },
        "when": "inventory_hostname == 'train-01'",
    },
]  # fmt: skip
WAITS = """\
import signal
import sys
from pathlib import Path
from rackwright import playbook
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # as the command does
playbook.ROOT = Path(sys.argv[1])
playbook.run("try", Path("inventory/lab"), {}, progress=lambda line: print(line, flush=True))
"""


def test_each_host_is_known_by_how_it_came_out(write):
    write("try", TASKS)
    seen = []
    ended = run("try", ROOT / "inventory" / "lab", {}, progress=seen.append)
    hosts = ended.hosts
    assert ended.code != 0
    assert set(hosts) == {"gpu-01", "gpu-02", "gpu-03", "train-01"}
    assert hosts["gpu-01"].is_well
    assert hosts["gpu-01"].changes == ["Say it"]
    assert hosts["gpu-02"].task == "Do each"
    assert "No such file" in hosts["gpu-02"].words
    assert (hosts["gpu-03"].task, hosts["gpu-03"].counts["failed"]) == ("Keep it secret", 1)
    assert "hidden" in hosts["gpu-03"].words
    assert hosts["train-01"].counts["unreachable"] == 1
    assert "refused" in hosts["train-01"].words.lower()
    assert SECRET not in json.dumps([hosts["gpu-03"].words, *seen])
    assert seen[:3] == ["== Try", "Say it", "  changed on 4 of 4 hosts"]
    assert "gpu-02 failed: Do each" in seen


def test_a_task_that_begins_for_each_host_is_told_once(write):
    whom = "inventory_hostname != 'gpu-01'"
    write("try", [{"name": "Leave", "ansible.builtin.meta": "end_host", "when": whom}, *TASKS[:1]])
    seen = []
    ended = run("try", ROOT / "inventory" / "lab", {}, progress=seen.append)
    assert ended.hosts["gpu-01"].changes == ["Say it"]
    assert seen == ["== Try", "Leave", "Say it", "  changed on 1 of 1 host"]


def test_a_playbook_that_does_not_parse_has_no_hosts_and_a_reason(checkout):
    (checkout / "playbooks" / "try.yml").write_text("- hosts: [\n")
    ended = run("try", ROOT / "inventory" / "lab", {})
    assert ended.code != 0
    assert ended.hosts == {}
    assert "ERROR" in ended.first_fault()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_from_outside_it_ends_ansible_too(write, checkout, tmp_path, number):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    write("try", [{"name": "Wait", "ansible.builtin.command": f"cat {fifo}"}], hosts="gpu-01")
    program = tmp_path / "waits.py"
    program.write_text(WAITS)
    process = subprocess.Popen(
        [sys.executable, program, checkout], cwd=ROOT, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL
    )
    for line in process.stdout:
        if line.strip() == "Wait":
            break
    assert running(checkout)
    with fifo.open("w"):  # it is read: the task runs on the host
        process.send_signal(number)
        assert process.wait(PATIENCE_S) != 0
        until(
            lambda: running(checkout) == [], "Ansible, or a fork of it, stays"
        )  # a fork ends just after what it was of


def running(checkout):
    """Processes of Ansible's that were started in a folder."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "cmdline").read_bytes()
            if (place / "cwd").resolve() == checkout and b"ansible-playbook" in words:
                found.append(words)
        except OSError:  # it has ended meanwhile
            continue
    return found
