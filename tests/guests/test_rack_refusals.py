"""What a machine must have to boot guests, and what is said where it has not."""

import signal
import subprocess
import time
from pathlib import Path

import pytest

from rackwright.errors import Refusal
from rackwright.guests import image, machine, namespace, needs, rehearsal, system
from rackwright.guests.hardware import Size
from rackwright.guests.rack import Rack
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]
LAB = ROOT / "inventory" / "lab"


@pytest.fixture(scope="module")
def lab():
    return Site.load(LAB)


@pytest.fixture
def bare(monkeypatch):
    """A machine without any program."""
    monkeypatch.setattr(needs, "program", lambda _: None)


class TestNeeds:
    @pytest.mark.usefixtures("bare")
    def test_missing_programs_are_named_with_their_packages(self):
        with pytest.raises(Refusal) as refused:
            needs.demand_to_boot()
        assert "qemu-system-x86_64, qemu-img" in refused.value.what
        assert refused.value.cure.startswith(
            "Install: apt-get install iproute2 openssh-client qemu-system-x86 qemu-utils"
        )
        assert "dnf install" in refused.value.cure

    def test_missing_tun(self, monkeypatch, tmp_path):
        monkeypatch.setattr(needs, "lacking", lambda _: [])
        monkeypatch.setattr(needs, "TUN", tmp_path / "tun")
        with pytest.raises(Refusal, match="modprobe tun"):
            needs.demand_to_boot()

    def test_an_image_that_must_be_made_needs_root(self, monkeypatch):
        monkeypatch.setattr(needs, "lacking", lambda _: [])
        monkeypatch.setattr(needs, "KEYRING", ROOT)
        monkeypatch.setattr("os.geteuid", lambda: 1000)
        with pytest.raises(Refusal, match=r"sudo env XDG_CACHE_HOME="):
            needs.demand_to_make_the_image()

    def test_a_cure_of_a_namespace_that_may_not_be_made(self):
        refusal = namespace.explain("unshare: unshare failed: Operation not permitted\n")
        assert "may not make a network namespace" in refusal.what
        assert "kernel.unprivileged_userns_clone=1" in refusal.cure


class TestImage:
    def test_its_name_says_what_it_is_made_from(self, monkeypatch):
        before = image.key()
        assert image.key() == before
        monkeypatch.setattr(system, "PACKAGES", (*system.PACKAGES, "vim"))
        assert image.key() != before

    def test_it_is_in_the_users_cache(self, monkeypatch, tmp_path):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert image.home() == tmp_path / "rackwright" / "guests" / f"debian-13-{image.key()}"
        assert not image.is_made()

    def test_one_that_nobody_used_for_a_month_goes_when_another_is_made(self, tmp_path):
        for name in ("debian-13-new", "debian-13-old", "else"):
            (tmp_path / name).mkdir()
        image.forget_others(tmp_path / "debian-13-new", now=time.time() + image.MONTH / 2)
        assert (tmp_path / "debian-13-old").exists()
        image.forget_others(tmp_path / "debian-13-new", now=time.time() + image.MONTH * 2)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["debian-13-new", "else"]

    def test_a_step_that_fails_is_told_with_its_last_word(self, monkeypatch, tmp_path):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        (tmp_path / "work" / "tmp").mkdir(parents=True)
        steps = image.Steps(tmp_path / "work")
        with pytest.raises(Refusal, match=r"failed at sh: no such mirror") as refused:
            steps("sh", "-c", "echo fetching; echo no such mirror; exit 1")
        assert str(tmp_path / "rackwright" / "logs" / "guests-image.log") in refused.value.cure


class TestMemory:
    @pytest.mark.parametrize(("free", "fit"), [(0, 0), (3000, 0), (3800, 1), (12_100, 4)])
    def test_so_many_guests_fit(self, free, fit):
        assert machine.how_many(Size(memory_mib=2048), free) == fit

    def test_more_than_fit_are_refused_with_those_that_would(self, lab):
        with pytest.raises(Refusal) as refused:
            machine.demand_memory(lab.hosts, Size(memory_mib=2048), 7000)
        assert refused.value.what.startswith(
            "8 guests of 2048 MiB do not fit into the 7000 MiB that are free: 2 would."
        )
        assert refused.value.cure == "Name those that matter: --host gpu-01,gpu-02."

    def test_where_none_fits_no_name_helps(self, lab):
        with pytest.raises(Refusal, match="End other programs"):
            machine.demand_memory(lab.hosts[:1], Size(), 100)


@pytest.mark.parametrize("ending", [KeyboardInterrupt(), SystemExit(143), Refusal("It did not come up.", "Look.")])
def test_a_rack_that_is_stopped_while_it_comes_up_is_not_kept(monkeypatch, tmp_path, ending):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(needs, "demand_to_boot", lambda: None)
    monkeypatch.setattr(namespace, "demand", lambda: None)
    monkeypatch.setattr(machine, "demand_memory", lambda *_: None)
    monkeypatch.setattr(image, "ensure", lambda _: image.Image(tmp_path))
    monkeypatch.setattr("rackwright.guests.rack.need_room", lambda *_: None)

    def boot(rack, _):
        rack.guests["gpu-01"] = subprocess.Popen(["sleep", "3600"], env=rack.namespace.environment())
        raise ending

    monkeypatch.setattr(Rack, "_boot", boot)
    rack = Rack(LAB, ["gpu-01"], keep=True)
    with pytest.raises(type(ending)), rack:
        pass
    assert rack.guests["gpu-01"].wait() == -signal.SIGKILL
    assert not rack.folder.exists()
    assert Rack.kept() == []


class TestAccelerator:
    def test_is_emulation_unless_kvm_is_asked_for(self):
        assert machine.accelerator("") == "tcg"

    def test_kvm_that_may_not_be_used_is_told(self, monkeypatch, tmp_path):
        monkeypatch.setattr(machine, "KVM", tmp_path / "kvm")
        with pytest.raises(Refusal, match="RACKWRIGHT_KVM=1 asks for KVM"):
            machine.accelerator("1")
        (tmp_path / "kvm").touch()
        assert machine.accelerator("1") == "kvm"


class TestRehearsal:
    @pytest.fixture(autouse=True)
    def able(self, monkeypatch):
        monkeypatch.setattr(needs, "demand_to_boot", lambda: None)
        monkeypatch.setattr(namespace, "demand", lambda: None)

    def test_a_playbook_that_is_not_there(self):
        with pytest.raises(Refusal, match=r"no playbooks/none\.yml"):
            rehearsal.rehearse(LAB, 1, playbook="playbooks/none.yml")

    def test_a_host_that_is_not_of_the_phase(self):
        with pytest.raises(Refusal, match="has no host gpu-02 in phase 1"):
            rehearsal.rehearse(LAB, 1, ["gpu-02"], "playbooks/preflight.yml")

    def test_a_phase_that_the_site_has_not(self):
        with pytest.raises(Refusal, match="has no phase 2"):
            rehearsal.rehearse(ROOT / "inventory" / "example", 2, playbook="playbooks/preflight.yml")

    def test_a_rack_of_a_host_that_is_none(self):
        with pytest.raises(Refusal, match=r"no host gpu-1\. Did you mean gpu-01"):
            Rack(LAB, ["gpu-1"])
