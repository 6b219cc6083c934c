"""Units that are to run and to begin at boot, by the role's own tasks and the real Ansible; systemctl is played."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
# Knows units out of a file: what is on the drive, and what it has read of that.
SYSTEMCTL = """#!{python}
import fnmatch, json, sys
from pathlib import Path
folder = Path({folder!r})
file = folder / "units.json"
units = json.loads(file.read_text())
verb, *names = [word for word in sys.argv[1:] if not word.startswith("-")]
with (folder / "asked").open("a") as asked:
    asked.write(" ".join([verb, *names]) + "\\n")
NONE = dict(LoadState="not-found", ActiveState="inactive", UnitFileState="", NeedDaemonReload="no")
if verb == "daemon-reload":
    for unit in units.values():
        unit["LoadState"] = "loaded" if unit["LoadState"] == "unread" else unit["LoadState"]
        unit["NeedDaemonReload"] = "no"
for name in names:
    if verb == "show":
        if "*" in name:
            found = [(each, unit) for each, unit in units.items() if fnmatch.fnmatch(each, name)]
        else:
            known = ((each, unit) for each, unit in units.items() if name in unit["Names"].split())
            found = [next(known, (name, NONE))]
        for each, unit in found:
            shown = dict(NONE, Names=each) | unit
            if shown["LoadState"] == "unread":
                shown |= NONE
            print("\\n".join("%s=%s" % pair for pair in dict(shown, Id=each).items()) + "\\n")
    elif name == "broken.service" and verb == "start":
        sys.exit("Job for broken.service failed.")
    else:
        units[name] |= dict(UnitFileState="enabled") if verb == "enable" else dict(ActiveState="active")
file.write_text(json.dumps(units))
"""
SETTLED = {"LoadState": "loaded", "ActiveState": "active", "UnitFileState": "enabled", "NeedDaemonReload": "no"}


class Host:
    """This machine, with a systemctl of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.units = folder, folder / "units.json"
        program = folder / "systemctl"
        program.write_text(SYSTEMCTL.format(python=sys.executable, folder=str(folder)))
        program.chmod(0o755)

    def has(self, **units: dict[str, str]) -> None:
        """What systemd knows; a service by its name, and what of it is not settled."""
        known = {f"{name}.service": {"Names": f"{name}.service", **SETTLED, **unit} for name, unit in units.items()}
        self.units.write_text(json.dumps(known))

    def run(self, *units: str, entry: str = "run", code: int = 0, options=(), **wishes) -> tuple[int, list[str], str]:
        """How much the role changed, what it told systemd, and what was said."""
        given = {"services_units": list(units), **{f"services_{name}": wish for name, wish in wishes.items()}}
        role = {"ansible.builtin.include_role": {"name": "services", "tasks_from": entry}, "vars": given}
        (self.folder / "play.yml").write_text(
            yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "tasks": [role]}])
        )
        (self.folder / "asked").write_text("")
        environment = {
            **os.environ,
            "PATH": ":".join([str(self.folder), str(Path(sys.executable).parent), os.environ["PATH"]]),
            "HOME": str(self.folder),
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_ROLES_PATH": str(ROOT / "playbooks/roles"),
        }
        command = ["ansible-playbook", "--inventory=localhost,", "--connection=local", *options]
        done = subprocess.run(
            [*command, self.folder / "play.yml"], env=environment, capture_output=True, text=True, check=False
        )
        said = done.stdout + done.stderr
        assert done.returncode == code, said
        told = [words for words in (self.folder / "asked").read_text().splitlines() if not words.startswith("show")]
        return int(re.search(r"changed=(\d+)", done.stdout)[1]), told, said


@pytest.fixture
def host(tmp_path):
    return Host(tmp_path)


def test_what_is_so_already_is_asked_about_once_and_told_nothing(host):
    host.has(chrony={}, ports={"UnitFileState": "static"})
    assert host.run("chrony.service", "ports.service")[:2] == (0, [])
    assert (host.folder / "asked").read_text().splitlines() == ["show chrony.service ports.service"]


def test_only_what_is_not_so_yet_is_told_and_a_look_tells_nothing(host):
    host.has(chrony={}, ports={"UnitFileState": "disabled", "ActiveState": "inactive"}, other={"ActiveState": "failed"})
    units = ("chrony.service", "ports.service", "other.service")
    assert host.run(*units, options=["--check"])[:2] == (1, [])
    assert host.run(*units)[:2] == (1, ["enable ports.service", "start ports.service other.service"])
    assert host.run(*units)[:2] == (0, [])


def test_a_wish_that_nobody_has_is_not_granted(host):
    host.has(ports={"UnitFileState": "disabled", "ActiveState": "inactive"})
    assert host.run("ports.service", running=False)[1] == ["enable ports.service"]
    host.has(ports={"UnitFileState": "disabled", "ActiveState": "inactive"})
    assert host.run("ports.service", at_boot=False)[1] == ["start ports.service"]


def test_newer_files_and_new_units_are_read_once(host):
    host.has(chrony={"NeedDaemonReload": "yes"}, ports={"NeedDaemonReload": "yes"})
    assert host.run("chrony.service", "ports.service")[:2] == (0, ["daemon-reload"])
    host.has(ports={"LoadState": "unread", "UnitFileState": "disabled", "ActiveState": "inactive"})
    assert host.run("ports.service")[1] == ["daemon-reload", "enable ports.service", "start ports.service"]
    assert host.run("ports.service")[:2] == (0, [])


def test_units_that_are_only_read_may_be_away_and_are_not_started(host):
    host.has(chrony={"ActiveState": "inactive", "UnitFileState": "disabled"})
    assert host.run("chrony.service", "none.service", "*.swap", entry="read")[:2] == (0, [])
    host.has(chrony={}, ports={"NeedDaemonReload": "yes"})
    assert host.run("none.service", "p*.service", entry="read")[:2] == (0, ["daemon-reload"])


def test_an_alias_is_the_unit_that_it_stands_for(host):
    host.has(chrony={"Names": "chrony.service chronyd.service", "UnitFileState": "disabled"})
    host.units.write_text(host.units.read_text().replace('"chrony.service":', '"chronyd.service":'))
    assert host.run("chronyd.service", options=["--check"])[0] == 1


@pytest.mark.parametrize("state", ["masked", "not-found", "error"])
def test_one_that_cannot_begin_is_named(host, state):
    host.has(gone={"LoadState": state, "ActiveState": "inactive", "UnitFileState": ""})
    assert f"gone.service cannot begin: systemd says {state}." in " ".join(host.run("gone.service", code=2)[2].split())


def test_one_that_does_not_start_says_why(host):
    host.has(broken={"ActiveState": "inactive"})
    said = host.run("broken.service", code=2)[2]
    assert "`systemctl start broken.service` ended with 1: Job for broken.service failed." in " ".join(said.split())
