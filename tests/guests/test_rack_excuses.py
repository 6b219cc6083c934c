"""What a guest is excused from, and what a rehearsal must not touch."""

from pathlib import Path

from rackwright.guests.excused import EXCUSED, sentence
from rackwright.guests.stand_ins.lay import kubeconfig
from rackwright.preflight.judge import checks, spoken
from rackwright.site.site import Site


def test_every_excuse_is_of_a_check_and_told():
    assert set(EXCUSED) <= {spoken(check) for check in checks()}
    assert all(name in sentence() for name in EXCUSED)


def test_a_rehearsal_writes_no_kubeconfig_of_the_sites(tmp_path):
    lab = Site.load(Path(__file__).resolve().parents[2] / "inventory" / "lab")
    first, second = (kubeconfig(lab, phase, tmp_path / "kubeconfig") for phase in (1, 2))
    assert first == {
        "k3s_kubeconfig": {"path": str(tmp_path / "kubeconfig"), "name": "lab-phase1", "api": "10.30.0.11"}
    }
    assert second == {"kubernetes_kubeconfig": {"path": str(tmp_path / "kubeconfig"), "name": "lab-phase2"}}
