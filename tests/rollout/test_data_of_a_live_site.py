"""What of the data is wired for a live site: names, ways to pods by a stand-in for kubectl, room, hours."""

import stat
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from played_world import lab
from waiting import until

from rackwright.errors import Refusal
from rackwright.observe.prometheus import Prometheus
from rackwright.rollout.built import live
from rackwright.rollout.data import world
from rackwright.rollout.forwards import Forwards
from rackwright.rollout.ground import Ground
from rackwright.rollout.journal import Journal
from rackwright.rollout.plan import plan
from rackwright.rollout.qdrant.kept import held
from rackwright.rollout.qdrant.store import Store, path
from rackwright.rollout.qdrant.switch import switch
from rackwright.rollout.rehearsal.stand_in import StandIn
from rackwright.rollout.room import Releases, Taken, space, versions_fit
from rackwright.rollout.stand_by import StandBy
from rackwright.rollout.way import way
from rackwright.rollout.world import State
from rackwright.site.catalog import Catalog

KUBECTL = """#!{python}
import os, sys, time
open("{folder}/said", "a").write(" ".join(sys.argv[1:]) + chr(10))
if "persistentvolumeclaims" in sys.argv:
    print("{volumes}")
elif "get" in sys.argv:
    print('{{"items": [{{"metadata": {{"name": "qdrant-0"}}, "status": {{"phase": "{phase}"}}}}]}}')
elif "port-forward" in sys.argv:
    with open("{folder}/pid", "w") as file:
        file.write(str(os.getpid()))
    print("{forwarding}", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def kubectl(tmp_path):
    """A stand-in that leads to a port which a test gives."""

    def written(forwarding, phase="Running", volumes="persistentvolumeclaim/qdrant-storage-qdrant-0"):
        program = tmp_path / "kubectl"
        words = {"forwarding": forwarding, "phase": phase, "volumes": volumes}
        program.write_text(KUBECTL.format(python=sys.executable, folder=tmp_path, **words))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return SimpleNamespace(
            ways=Forwards([str(program)], "qdrant", "app.kubernetes.io/name=qdrant", 6333),
            said=(tmp_path / "said").read_text,
            pid=tmp_path / "pid",
        )

    return written


def test_a_store_is_reached_by_a_way_to_each_of_its_pods(kubectl):
    played = StandIn()
    found = kubectl(f"Forwarding from {played.address.removeprefix('http://')} -> 6333")
    store = Store("phase-1", found.ways, played.key)
    assert not found.pid.exists()  # nothing is opened before it is needed
    store.ask("PUT", path("documents"), {"vectors": {"size": 2, "distance": "Dot"}})
    assert held(store) == ("documents",)
    assert "--namespace=qdrant port-forward pod/qdrant-0 :6333" in found.said()
    found.ways.close()
    until(lambda: not Path("/proc", found.pid.read_text()).exists(), "the way stays open")
    played.end()


def test_a_way_that_does_not_open_is_told(kubectl):
    with pytest.raises(Refusal, match="There is no way to pod/qdrant-0"):
        list(kubectl("error: pod not found").ways)
    with pytest.raises(Refusal, match=r"No pod of app\.kubernetes\.io/name=qdrant runs"):
        list(kubectl("", phase="Pending").ways)


def test_a_store_without_pods_and_volumes_is_not_there_and_no_fault(kubectl):
    assert switch(Store("phase-2", kubectl("", phase="Pending", volumes="").ways, "key")) is None
    with pytest.raises(Refusal, match="No pod of"):
        switch(Store("phase-2", kubectl("", phase="Pending").ways, "key"))


def test_every_name_is_one_of_the_plan(tmp_path):
    """And nothing is asked or begun to say what is built."""
    site = lab()
    found, planned = world(Ground(tmp_path, way(site))), plan(site)
    places = {place.name: place.step for place in planned.places}
    assert set(found.acts) <= set(places)
    for name in found.gates:
        step, _, gate = name.rpartition(" ")
        assert gate in planned.gates
        assert not step or gate in places[step].gates
    assert list(tmp_path.iterdir()) == []


def varied(copies_data, is_kept):
    """The sample with or without its data, its old server joining or kept as a cluster of its own."""
    site = lab()
    first = site.hosts[0].model_copy(update={"phases": (1,)}) if is_kept else site.hosts[0]
    rollout = way(site).settings.model_copy(update={"copies_data": copies_data})
    return site.model_copy(update={"rollout": rollout, "hosts": (first, *site.hosts[1:])})


@pytest.mark.parametrize("is_kept", [True, False], ids=["kept", "joining"])
@pytest.mark.parametrize("copies_data", [True, False], ids=["copied", "empty"])
def test_every_step_is_built_and_each_of_its_gates_read(tmp_path, copies_data, is_kept):
    site = varied(copies_data, is_kept)
    places = plan(site).places
    assert live(Ground(tmp_path, way(site))).built(places) == tuple(place.name for place in places)


def test_with_nothing_to_part_the_gates_are_asked_all_the_same(tmp_path):
    part = world(Ground(tmp_path, way(varied(copies_data=False, is_kept=False)))).acts["no-return/part"]
    assert part.look().state is State.ABSENT
    part.do()
    assert part.look().state is State.DONE


def test_without_data_of_phase_1_nothing_of_it_is_carried(tmp_path):
    site = lab()
    rollout = way(site).settings.model_copy(update={"copies_data": False})
    found = world(Ground(tmp_path, way(site.model_copy(update={"rollout": rollout}))))
    assert "copy/qdrant" not in found.acts
    assert "backup-restored" not in found.gates


def test_a_site_without_backups_has_no_rollout_of_its_data(tmp_path):
    site = lab()
    bare = site.model_copy(update={"postgresql": site.postgresql.model_copy(update={"backups": None})})
    act = world(Ground(tmp_path, way(bare))).acts["baseline/backup"]
    with pytest.raises(Refusal, match="lab's phase 1 keeps no backups of PostgreSQL"):
        act.parts[0].prove()


def test_releases_fit_by_what_copies_depend_on():
    assert versions_fit(Releases("18.6", "1.19.0"), Releases("18.5", "1.19.2")).passed
    reading = versions_fit(Releases("17.9", "1.19.0"), Releases("18.6", "1.19.0"))
    assert not reading.passed
    assert reading.seen == "PostgreSQL 17.9 and 18.6, Qdrant 1.19.0 and 1.19.0"
    assert not versions_fit(Releases("18.6", "1.18.0"), Releases("18.6", "1.19.0")).passed
    pinned = Releases.pinned(Catalog.load())
    assert versions_fit(pinned, pinned).passed


def test_room_is_told_with_what_it_wants():
    site = lab()
    little = space(site, Taken(10**9, 10**9))
    assert little.passed
    assert "PostgreSQL takes 1 GB of" in little.seen
    assert not space(site, Taken(site.postgresql.size_gb * 10**9, 0)).passed
    assert not space(site, Taken(0, site.vectors.size_gb * 3 * 10**9)).passed


class PlayedAlerts(Prometheus):
    def __init__(self, *alerts):
        super().__init__("http://nowhere")
        self.alerts = alerts

    def query(self, expression):
        assert 'alertname!~"Watchdog' in expression
        return [{"metric": {"alertname": each}, "value": [0, "1"]} for each in self.alerts]


def stand_by(folder, hours, *alerts):
    return StandBy(folder, way(lab()), PlayedAlerts(*alerts), lambda: datetime.now(UTC) + timedelta(hours=hours))


def test_hours_pass_from_the_door_s_name_on(tmp_path):
    assert stand_by(tmp_path, 30).look().state is State.ABSENT
    journal = Journal(tmp_path, (), "lab")
    journal.append("run")
    journal.append("done", "cut-over/door")
    early = stand_by(tmp_path, 20)
    assert early.look().words == "20.0 of 24 hours on phase 2"
    with pytest.raises(Refusal, match=r"4\.0 of 24 hours of standing by are left"):
        early.do()
    assert not early.stood_by().passed
    late = stand_by(tmp_path, 25)
    assert late.look().state is State.DONE
    assert late.stood_by().passed
    fired = stand_by(tmp_path, 25, "QueueTooLong").stood_by()
    assert not fired.passed
    assert "QueueTooLong in the last 24.0" in fired.seen
    assert stand_by(tmp_path, -5).look().state is State.ABSENT  # a clock that was set back
    journal.append("taken back", "cut-over/door")
    assert stand_by(tmp_path, 30).look().state is State.ABSENT
