"""Units that run with older files than there are, by the role's own tasks and the real Ansible; systemctl is played."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
# Shows a unit's state out of a file, and begins it anew at a restart.
SYSTEMCTL = """#!{python}
import json, sys, time
from pathlib import Path
folder = Path({folder!r})
words = [word for word in sys.argv[1:] if not word.startswith("-")]
with (folder / "asked").open("a") as asked:
    asked.write(" ".join(words) + "\\n")
if words[0] in ("show", "restart", "reload"):
    file = folder / words[1]
    unit = json.loads(file.read_text()) if file.exists() else dict(state="inactive", began=0, changed=0)
    now = int(time.clock_gettime(time.CLOCK_MONOTONIC) * 1e6)
    if words[0] != "show":
        unit["changed"] = now
    if words[0] == "restart":
        unit.update(state="active", began=now)
    file.write_text(json.dumps(unit))
    print("LoadState=loaded\\nActiveState=" + unit["state"])
    print("ExecMainStartTimestampMonotonic=%d" % unit["began"])
    print("StateChangeTimestampMonotonic=%d" % unit["changed"])
"""


class Host:
    """This machine, with a systemctl of its own and one file that a unit reads."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file = folder, folder / "some.conf"
        program = folder / "systemctl"
        program.write_text(SYSTEMCTL.format(python=sys.executable, folder=str(folder)))
        program.chmod(0o755)

    def unit(self, state: str, *, ago: float) -> None:
        """A unit in a state that began some seconds ago."""
        began = int((time.clock_gettime(time.CLOCK_MONOTONIC) - ago) * 1e6)
        (self.folder / "some.service").write_text(json.dumps({"state": state, "began": began, "changed": began}))

    def write(self, *, ago: float) -> None:
        """The file, written some seconds ago."""
        self.file.write_text("")
        os.utime(self.file, (time.time() - ago,) * 2)

    def run(self, *options, act="restarted") -> tuple[int, list[str]]:
        """How much the role changed, and what it asked of systemd."""
        files = {"some.service": [str(self.file), str(self.folder / "none")]}
        told = {"services_files": files, "services_act": act}
        play = {"hosts": "localhost", "gather_facts": False, "roles": [{"role": "services", **told}]}
        (self.folder / "play.yml").write_text(yaml.safe_dump([play]))
        (self.folder / "asked").write_text("")
        programs = [str(self.folder), str(Path(sys.executable).parent), os.environ["PATH"]]
        environment = {
            **os.environ,
            "PATH": ":".join(programs),
            "HOME": str(self.folder),
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_ROLES_PATH": str(ROOT / "playbooks/roles"),
        }
        command = [
            "ansible-playbook",
            "--inventory=localhost,",
            "--connection=local",
            *options,
            self.folder / "play.yml",
        ]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        asked = (self.folder / "asked").read_text().splitlines()
        return int(re.search(r"changed=(\d+)", done.stdout)[1]), [words for words in asked if "show" not in words]


@pytest.fixture
def host(tmp_path):
    return Host(tmp_path)


def test_what_was_written_by_a_run_that_was_cut_off_is_told_by_the_next(host):
    """The file is there and nobody is to change it: a handler would have been told nothing."""
    host.unit("active", ago=0.9)
    host.write(ago=0.4)
    assert host.run("--check") == (1, [])
    assert host.run() == (1, ["daemon-reload", "restart some.service"])
    assert host.run() == (0, [])
    assert host.run("--check") == (0, [])


@pytest.mark.parametrize(("state", "written"), [("active", 90), ("inactive", 10)])
def test_what_has_read_its_file_or_will_is_left_alone(host, state, written):
    host.unit(state, ago=60)
    host.write(ago=written)
    assert host.run() == (0, [])


def test_what_failed_on_an_older_file_is_started_by_the_new_one(host):
    host.unit("failed", ago=60)
    host.write(ago=10)
    assert host.run()[0] == 1


def test_one_that_systemd_does_not_know_is_no_fault(host):
    host.write(ago=10)
    assert host.run() == (0, [])


def test_a_reload_is_enough_for_one_that_reads_again(host):
    host.unit("active", ago=60)
    host.write(ago=10)
    assert host.run(act="reloaded") == (1, ["daemon-reload", "reload some.service"])
    assert host.run(act="reloaded") == (0, [])
