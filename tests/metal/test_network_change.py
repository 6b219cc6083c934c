"""The program that tries a network: whenever the power goes, the old network or the confirmed one is what boots."""

import importlib.util
import itertools
import json
import subprocess
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[2] / "playbooks" / "roles" / "network" / "files" / "network_change.py"


class CutError(Exception):
    """The power is gone."""


class Machine:
    """A machine of files, on which the program runs until its power is cut after some writes."""

    def __init__(self, folder, monkeypatch):
        spec = importlib.util.spec_from_file_location("network_change", PROGRAM)
        self.program = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.program)
        self.state = folder / "state"
        for name in ("PLAN", "TRIAL", "APPLIED", "SEEN", "CONFIRMED", "OUTCOME"):
            setattr(self.program, name, self.state / getattr(self.program, name).name)
        self.program.STATE, self.program.LINKS = self.state, folder / "links"
        self.program.BEFORE_CHANGE_S = 0
        self.old, self.new = folder / "old.network", folder / "new.network"
        self.old.write_text("old")
        self.gone = folder / "gone.network"
        self.gone.write_text("gone")
        self.commands, self.writes_left = [], None
        self.gateway = [{"lladdr": "00:11:22:33:44:55", "state": ["REACHABLE"]}]
        monkeypatch.setattr(subprocess, "run", self._run)
        for name in ("_save", "_forget"):
            monkeypatch.setattr(self.program, name, self._counted(getattr(self.program, name)))

    def plan(self):
        """Put the wished network beside the old one."""
        files = {str(self.old): "changed", str(self.new): "new", str(self.gone): None}
        change = {"files": files, "names": {"enp1s0": "node0"}, "built": ["bond0"], "gateways": ["10.0.0.1"]}
        self.state.mkdir(exist_ok=True)
        (self.state / "plan.json").write_text(json.dumps({**change, "daemon": "networkd"}))

    def ask(self, capsys):
        """What the program answers."""
        capsys.readouterr()
        self.program.ask()
        return json.loads(capsys.readouterr().out)

    def is_old(self):
        return (self.old.read_text(), self.new.exists(), self.gone.exists()) == ("old", False, True)

    def is_new(self):
        return self.old.read_text() == "changed" and self.new.exists() and not self.gone.exists()

    def boot(self):
        """Power comes back; the unit runs where its condition holds."""
        self.writes_left = None
        if (self.state / "trial.json").exists():
            self.program.boot()

    def _counted(self, act):
        def counted(*arguments, **options):
            if self.writes_left is not None:
                if self.writes_left == 0:
                    raise CutError
                self.writes_left -= 1
            return act(*arguments, **options)

        return counted

    def _run(self, command, **_):
        self.commands.append(" ".join(command))
        said = json.dumps(self.gateway) if command[:2] == ["ip", "-j"] else "LoadState=loaded"
        return subprocess.CompletedProcess(command, 0, stdout=said)


@pytest.fixture
def machine(tmp_path, monkeypatch):
    return Machine(tmp_path, monkeypatch)


def test_a_network_that_nobody_confirms_goes(machine, capsys):
    machine.plan()
    assert machine.program.trial(0) == 1
    assert machine.is_new(), "it was there for as long as it was tried"
    word = machine.ask(capsys)["word"]
    machine.program.restore()
    assert machine.is_old()
    assert machine.ask(capsys)["state"] == "restored"
    assert machine.program.confirm(word) == 1, "too late"
    assert machine.is_old()
    assert "ip link set rackwright0 name enp1s0" in machine.commands


def test_a_confirmed_network_stays(machine, capsys, monkeypatch):
    machine.plan()

    def confirmed(_):
        answer = machine.ask(capsys)
        assert answer["state"] == "applied"
        assert machine.program.confirm("another word") == 1
        assert machine.program.confirm(answer["word"]) == 0

    monkeypatch.setattr(machine.program.time, "sleep", lambda seconds: confirmed(seconds) if seconds else None)
    assert machine.program.trial(60) == 0
    machine.program.restore()
    assert machine.is_new()
    assert machine.ask(capsys)["state"] == "confirmed"


def test_a_router_that_fell_silent_is_no_confirmation(machine, capsys):
    machine.plan()
    machine.program.trial(0)
    machine.gateway = []
    assert machine.program.confirm(machine.ask(capsys)["word"]) == 1
    assert "10.0.0.1 answered before" in capsys.readouterr().out


def test_a_plan_that_cannot_be_read_changes_nothing(machine, capsys):
    machine.state.mkdir()
    (machine.state / "plan.json").write_text("{")
    with pytest.raises(json.JSONDecodeError):
        machine.program.trial(0)
    machine.program.restore()
    assert machine.is_old()
    assert machine.ask(capsys)["state"] == "failed"


@pytest.mark.parametrize("confirms", [True, False])
def test_whenever_the_power_goes_one_of_the_two_networks_boots(tmp_path, monkeypatch, confirms):
    for writes in itertools.count():
        folder = tmp_path / f"{confirms}-{writes}"
        folder.mkdir()
        machine = Machine(folder, monkeypatch)
        machine.plan()
        machine.writes_left = writes
        confirmed = False
        try:
            machine.program.begin()
            machine.program.trial(0)
            if confirms:
                machine.program.confirm((machine.state / "applied").read_text())
                confirmed = True
            machine.program.restore()
        except CutError:
            machine.boot()
            assert machine.is_new() if confirmed else machine.is_old(), f"cut after {writes} writes"
            assert not (machine.state / "trial.json").exists()
        else:
            break
    assert writes > 8
    assert machine.is_new() if confirms else machine.is_old()


@pytest.mark.parametrize("confirms", [True, False])
def test_a_power_cut_while_the_boot_takes_back_is_no_harm(tmp_path, monkeypatch, confirms):
    for writes in itertools.count():
        folder = tmp_path / f"{confirms}-{writes}"
        folder.mkdir()
        machine = Machine(folder, monkeypatch)
        machine.plan()
        machine.program.trial(0)
        if confirms:
            machine.program.confirm((machine.state / "applied").read_text())
        machine.writes_left = writes
        try:
            machine.program.boot()
        except CutError:
            machine.boot()
            assert machine.is_new() if confirms else machine.is_old(), f"cut after {writes} writes"
        else:
            break
    assert writes >= 2
