"""Units that are to run and to begin at boot, by the module itself; systemctl is played (guests have the real one)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

MODULE = Path(__file__).resolve().parents[2] / "playbooks/roles/services/library/service_units.py"
BOTH = {"at_boot": True, "running": True}
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

    def run(self, *units: str, checks: bool = False, code: int = 0, **wishes: bool) -> tuple[bool, list[str], str]:
        """Whether the module changes anything, what it told systemd, and what it says where it fails."""
        given = {"names": list(units), **wishes, "_ansible_check_mode": checks}
        (self.folder / "asked").write_text("")
        done = subprocess.run(
            [sys.executable, MODULE], input=json.dumps({"ANSIBLE_MODULE_ARGS": given}), capture_output=True, text=True,
            env=os.environ | {"PATH": f"{self.folder}:{os.environ['PATH']}"}, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        answer = json.loads(done.stdout)
        told = [words for words in (self.folder / "asked").read_text().splitlines() if not words.startswith("show")]
        return answer.get("changed", False), told, answer.get("msg", "")


@pytest.fixture
def host(tmp_path):
    return Host(tmp_path)


def test_what_is_so_already_is_asked_about_once_and_told_nothing(host):
    host.has(chrony={}, ports={"UnitFileState": "static"})
    assert host.run("chrony.service", "ports.service", **BOTH) == (False, [], "")
    assert (host.folder / "asked").read_text().splitlines() == ["show chrony.service ports.service"]


def test_only_what_is_not_so_yet_is_told_and_a_look_tells_nothing(host):
    host.has(chrony={}, ports={"UnitFileState": "disabled", "ActiveState": "inactive"}, other={"ActiveState": "failed"})
    units = ("chrony.service", "ports.service", "other.service")
    assert host.run(*units, checks=True, **BOTH) == (True, [], "")
    assert host.run(*units, **BOTH) == (True, ["enable ports.service", "start ports.service other.service"], "")
    assert host.run(*units, **BOTH) == (False, [], "")


@pytest.mark.parametrize(("wish", "told"), [("at_boot", "enable ports.service"), ("running", "start ports.service")])
def test_a_wish_that_nobody_has_is_not_granted(host, wish, told):
    host.has(ports={"UnitFileState": "disabled", "ActiveState": "inactive"})
    assert host.run("ports.service", **{wish: True})[1] == [told]


def test_newer_files_and_new_units_are_read_once(host):
    host.has(chrony={"NeedDaemonReload": "yes"}, ports={"NeedDaemonReload": "yes"})
    assert host.run("chrony.service", "ports.service", **BOTH) == (False, ["daemon-reload"], "")
    host.has(ports={"LoadState": "unread", "UnitFileState": "disabled", "ActiveState": "inactive"})
    assert host.run("ports.service", **BOTH)[1] == ["daemon-reload", "enable ports.service", "start ports.service"]
    assert host.run("ports.service", **BOTH) == (False, [], "")


def test_units_that_are_only_read_may_be_away_and_are_not_started(host):
    host.has(chrony={"ActiveState": "inactive", "UnitFileState": "disabled"})
    assert host.run("chrony.service", "none.service", "*.swap") == (False, [], "")
    host.has(chrony={}, ports={"NeedDaemonReload": "yes"})
    assert host.run("none.service", "p*.service") == (False, ["daemon-reload"], "")


def test_an_alias_is_the_unit_that_it_stands_for(host):
    host.has(chrony={"Names": "chrony.service chronyd.service", "UnitFileState": "disabled"})
    assert host.run("chronyd.service", checks=True, **BOTH)[0]


@pytest.mark.parametrize("state", ["masked", "not-found", "error"])
def test_one_that_cannot_begin_is_named(host, state):
    host.has(gone={"LoadState": state, "ActiveState": "inactive", "UnitFileState": ""})
    assert f"gone.service cannot begin: systemd says {state}." in host.run("gone.service", code=1, **BOTH)[2]


def test_one_that_does_not_start_says_why(host):
    host.has(broken={"ActiveState": "inactive"})
    said = host.run("broken.service", code=1, **BOTH)[2]
    assert said == "`systemctl start broken.service` ended with 1: Job for broken.service failed."
