"""A backup is restored beside its server, counted and removed: a real PostgreSQL, stand-ins for the rest."""

import json
import os
import shutil
import stat
import subprocess
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from local_pair import console
from test_cloud_native_objects import unknown

from components.postgres import backups as backups_of
from components.postgres import objects
from rackwright.errors import Refusal
from rackwright.rollout.backup import Backup
from rackwright.rollout.postgres import operator
from rackwright.rollout.postgres.backup import PostgresBackup
from rackwright.rollout.postgres.operator import OperatorBackups, backup, recovered
from rackwright.rollout.qdrant.backup import QdrantBackup
from rackwright.rollout.qdrant.kept import held
from rackwright.rollout.qdrant.store import Store, path
from rackwright.rollout.rehearsal.stand_in import StandIn
from rackwright.rollout.world import State
from rackwright.sandbox.postgres import Server, home, major, programs

SETTINGS = {"fsync": "off", "max_connections": "40", "shared_buffers": "32MB"}


class LocalBackups:
    """Folders and processes: base backups by pg_basebackup, with the log that belongs to them."""

    def __init__(self, first, second):
        self.first, self.second, self.server = first, second, console(first)
        self.kept = first.home / "backup"

    def take(self):
        shutil.rmtree(self.kept, ignore_errors=True)
        self.first.run("pg_basebackup", "-D", self.kept, "--checkpoint=fast", "--no-sync")

    def restore(self):
        self.remove()
        subprocess.run(["cp", "-a", self.kept, self.second.data], check=True)
        self.second.start()
        return console(self.second)

    def is_left(self):
        return self.second.data.exists()

    def remove(self):
        self.second.discard()


@pytest.fixture
def backups():
    with home() as place:
        folder = programs(place)
        if folder is None:
            pytest.skip(f"NO POSTGRESQL {major()}: no backup was restored. RACKWRIGHT_POSTGRES names its bin folder")
        first, second = (Server(folder, place, name, SETTINGS) for name in ("phase-1", "restored"))
        first.make()
        first.start()
        first.sql("CREATE DATABASE app")
        found = LocalBackups(first, second)
        found.server.sql("CREATE TABLE still AS SELECT generate_series(1, 1000) AS n; CREATE TABLE kept (n int)", "app")
        yield found


def test_a_backup_is_restored_counted_and_removed_while_applications_write(backups):
    ends = threading.Event()

    def write():
        while not ends.is_set():
            backups.server.sql("INSERT INTO kept SELECT generate_series(1, 10)", "app")

    thread = threading.Thread(target=write)
    thread.start()
    act = Backup([PostgresBackup(backups, ["app"])])
    assert act.look().state is State.ABSENT
    assert not act.restored().passed
    act.do()
    ends.set()
    thread.join()
    assert act.look().state is State.DONE
    reading = act.restored()
    assert reading.passed
    assert "rows in 2 tables restored and counted, 1 of them while they were written to" in reading.seen
    assert not backups.is_left()
    act.now = lambda: datetime.now(UTC) + timedelta(hours=25)
    assert not act.restored().passed


def test_a_backup_that_lacks_rows_is_none(backups, monkeypatch):
    real = LocalBackups.restore

    def loses(self):
        found = real(self)
        found.sql("DELETE FROM still WHERE n = 7", "app")
        return found

    monkeypatch.setattr(LocalBackups, "restore", loses)
    with pytest.raises(Refusal, match=r"app public\.still has 1000 rows, and 999 rows in the backup"):
        Backup([PostgresBackup(backups, ["app"])]).do()
    assert not backups.is_left()


def test_an_older_backup_is_not_taken_for_this_one(backups, monkeypatch):
    backups.take()
    backups.server.sql("INSERT INTO kept VALUES (1)", "app")
    monkeypatch.setattr(LocalBackups, "take", lambda _: None)
    with pytest.raises(Refusal, match=r"bytes of log before it began|kept has 1 rows"):
        Backup([PostgresBackup(backups, ["app"])]).do()


def test_a_copy_that_was_left_is_removed_first(backups):
    backups.take()
    backups.restore()
    act = Backup([PostgresBackup(backups, ["app"])])
    assert act.look().state is State.TO_UNDO
    act.undo()
    assert act.look().state is State.ABSENT
    assert backups.server.sql("SELECT count(*) FROM still", "app") == "1000"


@pytest.fixture
def store():
    played = StandIn()
    found = Store("phase-1", [played.address], played.key)
    for name, number in (("small and much", 3), ("large", 30), ("empty", 0)):
        found.ask("PUT", path(name), {"vectors": {"size": 2, "distance": "Dot"}})
        points = [{"id": each, "vector": [1.0, each]} for each in range(number)]
        found.ask("PUT", path(name, "points") + "?wait=true", {"points": points})
    yield played, found
    played.end()


def test_a_snapshot_is_restored_beside_counted_and_removed(store):
    played, found = store
    act = Backup([QdrantBackup(found, lambda _: None)])
    act.do()
    said = "Qdrant: 3 collections by their snapshots, 3 points of small and much restored and counted"
    assert act.restored().seen == said
    assert held(found) == ("empty", "large", "small and much")
    assert len(played.collections) == 3
    (recovered_from,) = [body["location"] for _, where, _, body in played.asked if where.endswith("recover")]
    assert recovered_from.startswith("file:///qdrant/snapshots/small%20and%20much/small")
    taken = len([1 for method, where, *_ in played.asked if method == "POST" and where.endswith("snapshots")])
    act.do()
    assert (
        taken == 3 == len([1 for method, where, *_ in played.asked if method == "POST" and where.endswith("snapshots")])
    )


def test_a_snapshot_that_lacks_points_is_none(store):
    played, found = store
    played.loses = 1
    with pytest.raises(Refusal, match="small and much has 3 points, and 2 in its snapshot"):
        Backup([QdrantBackup(found, lambda _: None)]).do()
    assert len(played.collections) == 3


SERVER = {"imageName": "i", "storage": {"size": "1G"}, "resources": {}, "postgresql": {"parameters": {"a": "1"}}}
OBJECTS = [("backups", backup("rollout-1")), ("clusters", recovered({"spec": SERVER}, "lab-phase1"))]


@pytest.mark.parametrize(("kind", "wanted"), OBJECTS)
def test_upstream_knows_every_key(kind, wanted):
    folder = os.environ.get("RACKWRIGHT_UPSTREAM")
    if not folder:
        pytest.skip("RACKWRIGHT_UPSTREAM names no folder of upstream's, so its definitions were not compared")
    file = Path(folder, "crds", "cloudnative-pg", f"postgresql.cnpg.io_{kind}.yaml")
    (version,) = yaml.safe_load(file.read_text())["spec"]["versions"]
    schema = version["schema"]["openAPIV3Schema"]
    assert unknown({"spec": wanted["spec"]}, schema) == []
    assert unknown({"spec": {"clustr": {}}}, schema) == [".spec.clustr"]


KUBECTL = """#!/bin/sh
echo "$@" >> "$PLAYED/said"
case "$*" in
  *"get backup"*) cat "$PLAYED/backup";;
  *"get cluster restored --output=json"*) echo '{"status": {"currentPrimary": "restored-1"}}';;
  *"get cluster postgres --output=json"*)
    echo '{"spec": {"storage": {"size": "5G"}}, "status": {"currentPrimary": "postgres-1"}}';;
  *"get networkpolicy backups"*)
    echo '{"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "spec": {"podSelector": {}, "egress": [1]}}';;
  *apply*) cat "${3#--filename=}" >> "$PLAYED/applied"; echo >> "$PLAYED/applied";;
  *exec*) cat > /dev/null; echo 7;;
esac
"""


@pytest.fixture
def kubectl(tmp_path, monkeypatch):
    """A stand-in that writes down what it was told; no operator is there."""
    program = tmp_path / "kubectl"
    program.write_text(KUBECTL)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PLAYED", str(tmp_path))
    (tmp_path / "backup").write_text('{"status": {"phase": "completed"}}')
    (tmp_path / "applied").touch()
    return SimpleNamespace(
        backups=OperatorBackups([str(program)], "lab-phase1", sleep=lambda _: None),
        said=lambda: (tmp_path / "said").read_text().splitlines(),
        applied=lambda: [json.loads(line) for line in (tmp_path / "applied").read_text().splitlines()],
        backup=tmp_path / "backup",
    )


def test_the_operator_is_told_to_back_up_recover_and_remove(kubectl):
    kubectl.backups.take()
    restored = kubectl.backups.restore()
    kubectl.backups.remove()
    first, policy, second = kubectl.applied()
    assert (first["kind"], policy["kind"], second["kind"]) == ("Backup", "NetworkPolicy", "Cluster")
    assert policy["spec"] == {"podSelector": {"matchLabels": {"cnpg.io/cluster": "restored"}}, "egress": [1]}
    assert second["metadata"]["name"] == "restored"
    assert second["spec"]["storage"] == {"size": "5G"}
    assert second["spec"]["bootstrap"]["recovery"]["source"] == second["spec"]["externalClusters"][0]["name"]
    assert "plugins" not in second["spec"]  # it must not write into the server's own archive
    assert restored.sql("SELECT 7") == "7"
    assert kubectl.backups.server.sql("SELECT 7") == "7"
    said = kubectl.said()
    assert any("exec --stdin restored-1 --container=postgres -- psql" in line for line in said)
    deleted = [line for line in said if " delete " in line]
    assert all("restored --ignore-not-found" in line for line in deleted)
    assert len(deleted) == 4  # before and after, the cluster and its way out


def test_a_backup_that_fails_is_told(kubectl):
    kubectl.backup.write_text('{"status": {"phase": "failed", "error": "no bucket"}}')
    with pytest.raises(Refusal, match=r"The backup rollout-\d+ failed: no bucket"):
        kubectl.backups.take()


def test_names_are_those_of_the_component():
    assert (operator.CLUSTER, operator.PLUGIN, operator.STORE) == (objects.CLUSTER, backups_of.PLUGIN, backups_of.STORE)
