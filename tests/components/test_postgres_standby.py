"""A primary that dies under load, with real servers: what it acknowledged is on the standby that is promoted."""

import os
import subprocess

import pytest
from waiting import PATIENCE_S, until

from components.postgres.objects import SYNCHRONOUS
from components.postgres.parameters import parameters
from rackwright.sandbox.postgres import USER, Server, home, major, programs
from rackwright.site.postgresql import Postgresql

STANDBYS = ("postgres-2", "postgres-3")
WRITERS, ROWS, ENOUGH = 4, 20_000, 400


def waits_for_a_standby() -> dict[str, str]:
    """The Cluster's words as the server's setting; the operator names every instance but the primary itself."""
    names = ", ".join(f'"{name}"' for name in STANDBYS)
    return {"synchronous_standby_names": f"{SYNCHRONOUS['method'].upper()} {SYNCHRONOUS['number']} ({names})"}


@pytest.fixture
def cluster():
    """A primary with two standbys, as three instances are; more settings may be given."""
    with home() as place:
        folder = programs(place)
        if folder is None:
            pytest.skip(f"NO POSTGRESQL {major()}: no standby was promoted. RACKWRIGHT_POSTGRES names its bin folder")
        yield maker(folder, place)


def maker(folder, place):
    servers = []
    own = parameters(Postgresql(size_gb=10, wal_size_gb=2, memory_gib=1, cores=2, connections=40))
    own = {name: value for name, value in own.items() if not name.startswith("pg_stat_statements")}

    def make(**settings: str) -> list[Server]:
        primary = Server(folder, place, "postgres-1", own | settings)
        servers.append(primary)
        primary.make()
        primary.start()
        for name in STANDBYS:
            standby = Server(folder, place, name, own)
            standby.copy(primary)
            servers.append(standby)
            standby.start()
        streaming = "SELECT count(*) = 2 FROM pg_stat_replication WHERE state = 'streaming'"
        until(lambda: primary.sql(streaming) == "t")
        primary.sql("CREATE TABLE kept (writer int, number int)")
        return servers

    return make


def writer(server, script, out):
    """A client that runs a script, and writes down what it was told."""
    command = [server.programs / "psql", "-XAtq", "-vON_ERROR_STOP=1", "-f", script]
    how = {"user": USER, "cwd": server.home, "env": server.environment, "stderr": subprocess.DEVNULL}
    with out.open("wb") as said:
        return subprocess.Popen(command, stdout=said, **how)


def write(primary):
    """Clients that commit row after row, and write down each that was acknowledged."""
    said = []
    for client in range(WRITERS):
        script, out = primary.home / f"{client}.sql", primary.home / f"{client}.out"
        rows = (f"INSERT INTO kept VALUES ({client}, {number});\n\\echo {client} {number}\n" for number in range(ROWS))
        script.write_text("".join(rows))
        os.chown(script, USER, -1)
        said.append((writer(primary, script, out), out))
    return said


def acknowledged(said) -> set[str]:
    """What clients were told is committed; the last line of one that was cut off may be half."""
    return {line for _, out in said for line in out.read_text().splitlines(keepends=True) if line.endswith("\n")}


def held(server) -> set[str]:
    return {f"{line}\n" for line in server.sql("SELECT writer || ' ' || number FROM kept").splitlines()}


def received(server) -> int:
    return int(server.sql("SELECT pg_last_wal_receive_lsn() - '0/0'::pg_lsn"))


def kill_under_load(primary):
    said = write(primary)
    until(lambda: len(acknowledged(said)) >= ENOUGH, "too little was written")
    primary.kill()
    for client, _ in said:
        assert client.wait(PATIENCE_S) != 0, "the load ended before the primary did"
    return acknowledged(said)


def hold_back(standby):
    """Cut a standby off from its primary, as a network does."""
    standby.sql("ALTER SYSTEM SET primary_conninfo = 'host=/nowhere'")
    standby.sql("SELECT pg_reload_conf()")
    until(lambda: standby.sql("SELECT count(*) FROM pg_stat_wal_receiver") == "0", "it still receives")


def test_a_promoted_standby_holds_every_acknowledged_commit(cluster):
    primary, *standbys = cluster(**waits_for_a_standby())
    told = kill_under_load(primary)
    foremost = max(standbys, key=received)
    foremost.promote()
    assert len(told) >= ENOUGH
    assert told <= held(foremost)
    foremost.sql("INSERT INTO kept VALUES (-1, -1)")


def test_commits_go_on_while_a_standby_is_away_and_that_one_must_not_be_promoted(cluster):
    """So the operator is told to count (failoverQuorum): the other standby alone is not enough to promote it."""
    primary, near, far = cluster(**waits_for_a_standby())
    hold_back(far)
    told = kill_under_load(primary)
    assert received(near) > received(far)
    near.promote()
    assert told <= held(near)
    assert SYNCHRONOUS["failoverQuorum"] is True
    far.promote()
    assert told - held(far), "the standby that was held back lost nothing: this test could not have failed"


def test_without_the_setting_acknowledged_commits_are_lost(cluster):
    primary, *standbys = cluster()
    for standby in standbys:
        hold_back(standby)
    told = kill_under_load(primary)
    foremost = max(standbys, key=received)
    foremost.promote()
    assert told - held(foremost)


def test_a_commit_waits_where_no_standby_is_there(cluster):
    """The price of losing nothing, which is why two instances are refused."""
    primary, *standbys = cluster(**waits_for_a_standby())
    for standby in standbys:
        standby.kill()
    script, out = primary.home / "alone.sql", primary.home / "alone.out"
    script.write_text("INSERT INTO kept VALUES (1, 1);\n\\echo done\n")
    client = writer(primary, script, out)
    until(lambda: primary.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == "1")
    assert client.poll() is None
    assert out.read_text() == ""
    standbys[0].start()
    assert client.wait(PATIENCE_S) == 0
    assert out.read_text() == "done\n"
