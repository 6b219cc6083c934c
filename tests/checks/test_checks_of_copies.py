"""Copies on one host, backups that are not made, and stores that lead nowhere; from objects as a cluster shows them."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from rackwright.checks.copies import backup_references, backups_are_made, copies_lie_apart
from rackwright.checks.findings import Outcome
from rackwright.checks.objects import Objects
from rackwright.checks.references import look_up
from rackwright.site.site import Site

INVENTORY = Path(__file__).resolve().parents[2] / "inventory"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
OURS = {"app.kubernetes.io/part-of": "rackwright"}


@pytest.fixture(scope="module")
def lab() -> Site:
    return Site.load(INVENTORY / "lab")


def thing(kind, name, namespace="postgres", labels=None, **rest):
    metadata = {"name": name, "namespace": namespace, "labels": labels or {}}
    return {"kind": kind, "metadata": metadata, **rest}


def cluster(*objects, simulated=False) -> Objects:
    """Namespaces of ours, a node, and these."""
    spaces = [{"kind": "Namespace", "metadata": {"name": name, "labels": OURS}} for name in ("postgres", "qdrant")]
    notes = {"kwok.x-k8s.io/node": "fake"} if simulated else {}
    node = {"kind": "Node", "metadata": {"name": "gpu-01", "annotations": notes}}
    return Objects([*spaces, node, *objects])


def instance(number, host):
    return thing("Pod", f"postgres-{number}", labels={"cnpg.io/podRole": "instance"}, spec={"nodeName": host})


def store_node(number, host):
    labels = {"app.kubernetes.io/name": "qdrant"}
    return thing("Pod", f"qdrant-{number}", "qdrant", labels=labels, spec={"nodeName": host})


def failures(found):
    return [each for each in found if each.outcome is Outcome.FAILED]


def test_copies_on_hosts_of_their_own_pass():
    placed = [each(number, f"gpu-0{number}") for each in (instance, store_node) for number in (1, 2, 3)]
    assert not failures(copies_lie_apart(cluster(*placed)))


@pytest.mark.parametrize(("copy", "what"), [(instance, "PostgreSQL"), (store_node, "Qdrant")])
def test_two_copies_on_one_host_are_told(copy, what):
    (fault,) = failures(copies_lie_apart(cluster(copy(1, "gpu-01"), copy(2, "gpu-02"), copy(3, "gpu-02"))))
    assert (fault.where, fault.what) == (what, "has 2 copies on gpu-02")


def test_a_copy_that_waits_for_a_host_is_on_none():
    waiting = [thing("Pod", f"qdrant-{each}", "qdrant", {"app.kubernetes.io/name": "qdrant"}, spec={}) for each in "12"]
    assert not failures(copies_lie_apart(cluster(*waiting)))


def schedule():
    return thing("ScheduledBackup", "backups", spec={"cluster": {"name": "postgres"}})


def backup(phase, stopped):
    return thing("Backup", f"backup-{phase}-{stopped}", status={"phase": phase, "stoppedAt": stopped})


def test_a_schedule_that_is_not_there_is_told(lab):
    (fault,) = failures(backups_are_made(cluster(), lab, NOW))
    assert fault.what == "is not there"


@pytest.mark.parametrize(("made", "said"), [
    ([], "has made none yet"),
    ([backup("failed", "2026-11-30T02:00:00Z")], "has made none yet"),
    ([backup("completed", "2026-11-27T02:00:00Z")], "has made its last whole backup at 2026-11-27 02:00 UTC"),
])  # fmt: skip
def test_backups_that_are_not_made_are_told(lab, made, said):
    (fault,) = failures(backups_are_made(cluster(schedule(), *made), lab, NOW))
    assert fault.what == said


def test_a_backup_of_last_night_passes(lab):
    (found,) = backups_are_made(cluster(schedule(), backup("completed", "2026-11-30T02:10:00Z")), lab, NOW)
    assert found.outcome is Outcome.PASSED


def test_what_nobody_asked_for_is_not_missed_and_what_cannot_be_is_not_seen(lab):
    (found,) = backups_are_made(cluster(), Site.load(INVENTORY / "example"), NOW)
    assert found.outcome is Outcome.PASSED
    (found,) = backups_are_made(cluster(schedule(), simulated=True), lab, NOW)
    assert found.outcome is Outcome.NOT_SEEN


def server(**plugin):
    return thing("Cluster", "postgres", spec={"plugins": [{"name": "barman", "parameters": plugin}]})


def store(key="access-key"):
    keys = {"accessKeyId": {"name": "object-storage", "key": key}}
    return thing("ObjectStore", "backups", spec={"configuration": {"s3Credentials": keys}})


def test_stores_and_keys_of_backups_are_looked_up():
    secret = thing("Secret", "object-storage", data={"access-key": "eA=="})
    whole = [server(barmanObjectName="backups"), store(), secret, schedule()]
    assert not failures(look_up(cluster(*whole), (backup_references,)))
    for broken, gone in (
        ([server(barmanObjectName="others"), store(), secret, schedule()], "ObjectStore postgres/others"),
        ([server(barmanObjectName="backups"), store(), schedule()], "Secret postgres/object-storage"),
        ([server(barmanObjectName="backups"), store("password"), secret, schedule()], "the key password"),
        ([store(), secret, schedule()], "Cluster postgres/postgres"),
    ):
        (fault,) = failures(look_up(cluster(*broken), (backup_references,)))
        assert gone in fault.what
