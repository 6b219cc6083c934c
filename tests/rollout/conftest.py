"""What tests of the rollout stand on: a played world, PostgreSQL's programs, two Clusters of one real API."""

import pytest
from local_pair import two_servers, writer_of
from played_operator import PlayedOperator
from played_world import PlayedWorld, lab
from two_clusters import ground_of, kinds
from waiting import until

from rackwright.sandbox.control_plane import ControlPlane
from rackwright.sandbox.kubectl import Kubectl
from rackwright.sandbox.postgres import home, major, programs


@pytest.fixture(scope="module")
def postgres_programs():
    """PostgreSQL's programs, laid open once."""
    with home() as place:
        found = programs(place)
        if found is None:
            pytest.skip(f"NO POSTGRESQL {major()}: no cut-over was tried. RACKWRIGHT_POSTGRES names its bin folder")
        yield found


@pytest.fixture
def world(tmp_path) -> PlayedWorld:
    return PlayedWorld(tmp_path, lab())


@pytest.fixture
def quick(monkeypatch):
    """A process that is killed leaves what it wrote to the system, so thousands of runs need no drive."""
    monkeypatch.setattr("os.fsync", lambda _: None)


@pytest.fixture(scope="session")
def api(toolbox, say):
    """A control plane that knows the operator's kinds."""
    with ControlPlane(toolbox, progress=say) as cluster:
        cluster.apply(kinds())
        cluster.kubectl("wait", "customresourcedefinitions", "--all", "--for=condition=Established", "--timeout=60s")
        yield cluster.kubectl


@pytest.fixture
def ground(postgres_programs, api: Kubectl, tmp_path):
    with two_servers(postgres_programs) as local, PlayedOperator(api, local, tmp_path) as operator:
        yield ground_of(operator, local, tmp_path)
        assert operator.faults == []


@pytest.fixture
def following(ground):
    ground.steps[0].do()
    return ground


@pytest.fixture
def writers(following):
    found = [writer_of(following.local, number) for number in range(2)]
    until(lambda: all(len(writer.told) > 20 for writer in found), "nothing was written")
    yield found
    for writer in found:
        writer.end()
