"""The course of a rehearsal on guests, with a rack that only writes down what is asked of it."""

from contextlib import nullcontext
from pathlib import Path

import pytest

from rackwright.errors import Refusal
from rackwright.guests import namespace, needs, rehearsal
from rackwright.guests.ansible import Ran
from rackwright.guests.stand_ins.lay import Laid
from rackwright.site.site import Site

LAB = Path(__file__).resolve().parents[2] / "inventory" / "lab"
STATS = {"ok": 4, "changed": 2, "failed": 0, "unreachable": 0}


class FakeRack(nullcontext):
    """Guests that nobody booted."""

    def __init__(self, folder, names, *, size, keep, own_kubeconfigs, progress):
        assert own_kubeconfigs
        super().__init__(self)
        site = Site.load(folder)
        self.name, self.keep, self.size = "metal-abcdef", keep, size
        self.hosts = [host for host in site.hosts if host.name in names]
        self.runs, self.left, self.progress, self.folder = [], False, progress, folder
        FakeRack.last = self

    def __exit__(self, *error):
        self.left = True

    def ansible(self, playbook, *, variables):
        self.runs.append((playbook, variables))
        outcome = FakeRack.outcomes[len(self.runs) - 1]
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def ways_in(self):
        return {host.name: f"ssh {host.address}" for host in self.hosts}


def ran(code=0, **changed):
    return Ran(code, "", {"gpu-01": STATS}, changed)


@pytest.fixture(autouse=True)
def _world(monkeypatch):
    monkeypatch.setattr(needs, "demand_to_boot", lambda: None)
    monkeypatch.setattr(namespace, "demand", lambda: None)
    monkeypatch.setattr(rehearsal, "Rack", FakeRack)
    monkeypatch.setattr(rehearsal, "lay", lambda _, __: Laid(("k3s: ours.",), {"k3s_binary_source": "/here"}))


def rehearse(*outcomes, **options):
    FakeRack.outcomes = outcomes
    return rehearsal.rehearse(LAB, 1, playbook="playbooks/preflight.yml", **options)


def test_the_playbook_runs_twice_with_the_phase_and_the_stand_ins():
    report = rehearse(ran(**{"gpu-01": ["a"]}), ran())
    assert FakeRack.last.runs == [("playbooks/preflight.yml", {"phase": 1, "k3s_binary_source": "/here"})] * 2
    assert report.succeeded
    assert list(report.steps) == ["boot", "stand-ins", "first run", "second run", "tear-down"]
    assert (report.stand_ins, list(report.cannot_have)) == (("k3s: ours.",), ["gpu-01"])
    assert FakeRack.last.left


def test_after_a_run_that_failed_there_is_no_second():
    report = rehearse(ran(code=2))
    assert (report.second, report.succeeded, report.kept) == (None, False, {})


def test_what_is_kept_says_how_to_get_in():
    report = rehearse(ran(), ran(), keep=True)
    assert report.kept == {"name": "metal-abcdef", "ways_in": {"gpu-01": "ssh 10.30.0.11"}}


@pytest.mark.parametrize("ending", [KeyboardInterrupt(), SystemExit(143)])
def test_who_stops_it_keeps_nothing(ending):
    with pytest.raises(Refusal, match="everything that it had started has ended"):
        rehearse(ending, keep=True)
    assert (FakeRack.last.keep, FakeRack.last.left) == (False, True)


def test_a_full_disk_is_told():
    with pytest.raises(Refusal, match="is full"):
        rehearse(OSError(28, "No space left on device", "/cache"))
