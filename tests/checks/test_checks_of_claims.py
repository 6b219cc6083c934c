"""Claims and their volumes: of one class, where one is asked for at all."""

import pytest

from rackwright.checks.findings import Outcome
from rackwright.checks.objects import Objects
from rackwright.checks.volumes import claims_are_bound

OURS = {
    "kind": "Namespace",
    "metadata": {"name": "models", "labels": {"app.kubernetes.io/part-of": "rackwright"}},
}


def faults(asked: dict, given: dict) -> list[str]:
    claim = {
        "kind": "PersistentVolumeClaim",
        "metadata": {"namespace": "models", "name": "weights"},
        "spec": {"volumeName": "v"} | asked,
        "status": {"phase": "Bound"},
    }
    volume = {"kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": given}
    found = claims_are_bound(Objects([OURS, claim, volume]))
    return [f"{each.where} {each.what}" for each in found if each.outcome is Outcome.FAILED]


@pytest.mark.parametrize("given", [{}, {"storageClassName": ""}])
def test_an_export_has_no_class_on_either_side(given):
    assert faults({"storageClassName": ""}, given) == []


def test_another_class_is_told():
    said = faults({"storageClassName": "nvme-models"}, {"storageClassName": "slow"})
    assert said == ["PersistentVolumeClaim models/weights lies on a volume of class slow"]
    (said,) = faults({"storageClassName": "nvme-models"}, {})
    assert "class none" in said
