"""A cluster that awaits a host says so by its mark, and is checked for what is there without."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from rackwright.checks import check as checks  # the function hides the module of its name
from rackwright.checks.findings import Outcome
from rackwright.checks.objects import Objects
from rackwright.checks.operators import HEALTHY, databases_are_healthy
from rackwright.checks.run import CHECKS
from rackwright.site.catalog import Catalog
from rackwright.site.postgresql import DATABASES
from rackwright.site.site import Site

module = sys.modules["rackwright.checks.check"]
LAB = Site.load(Path(__file__).resolve().parents[2] / "inventory" / "lab")


@pytest.fixture
def looked_for(monkeypatch):
    """Which hosts checks look for, by the mark's data; a stand-in for the cluster and for what is asked of it."""

    def ask(data, nodes=()):
        mark = {"kind": "ConfigMap", "metadata": {"name": "rackwright", "namespace": "kube-system"}, "data": data}

        class Marked:
            def __init__(self, *_):
                """Of any cluster."""

            def objects(self):
                return Objects([mark, *({"kind": "Node", "metadata": {"name": name}} for name in nodes)])

        said = []
        monkeypatch.setattr(module, "Access", Marked)
        monkeypatch.setattr(module, "run", lambda ground: ground.site)
        found = checks(LAB, 2, Catalog.load(), Path("kubeconfig"), progress=said.append)
        assert sum(serving.replicas for _, serving in found.models_in(2)) == (5 if "awaits" in data else 8)
        return [host.name for host in found.hosts_in(2)], said

    return ask


def test_a_host_that_is_awaited_is_not_looked_for(looked_for):
    hosts, said = looked_for({"site": "lab", "phase": "2", "awaits": "gpu-01"})
    assert "gpu-01" not in hosts
    assert any("gpu-01 joins later" in line for line in said)


def test_one_that_has_joined_is_a_host_before_anything_is_spread_onto_it(looked_for):
    hosts, _ = looked_for({"site": "lab", "phase": "2", "awaits": "gpu-01"}, nodes=["gpu-01", "gpu-02"])
    assert hosts == [host.name for host in LAB.hosts_in(2)]


def test_without_that_every_host_is_looked_for(looked_for):
    hosts, said = looked_for({"site": "lab", "phase": "2"})
    assert hosts == [host.name for host in LAB.hosts_in(2)]
    assert not any("joins later" in line for line in said)


@pytest.mark.parametrize("databases", DATABASES)
def test_databases_that_are_yet_to_come_are_told_by_the_mark(databases, monkeypatch):
    data = {"site": "lab", "phase": "2"} | ({"databases": databases} if databases != "own" else {})
    mark = {"kind": "ConfigMap", "metadata": {"name": "rackwright", "namespace": "kube-system"}, "data": data}
    monkeypatch.setattr(module, "Access", lambda *_: SimpleNamespace(objects=lambda: Objects([mark])))
    monkeypatch.setattr(module, "run", lambda ground: ground)
    ground = checks(LAB, 2, Catalog.load(), Path("kubeconfig"))
    assert ground.databases == databases
    failed = {
        check.name
        for check in CHECKS
        if check.name in ("databases", "backups")
        for each in check.look(ground)
        if each.outcome is Outcome.FAILED
    }
    assert failed == (set() if databases == "awaited" else {"databases", "backups"})


def test_a_copy_has_no_databases_that_were_asked_for_here():
    status = {"phase": HEALTHY, "readyInstances": 1}
    server = {"kind": "Cluster", "metadata": {"name": "postgres"}, "spec": {"instances": 1}, "status": status}
    found = {each: [one.outcome for one in databases_are_healthy(Objects([server]), LAB, each)] for each in DATABASES}
    assert found["copied"] == [Outcome.PASSED]
    assert found["own"] == [Outcome.PASSED, *[Outcome.FAILED] * 3]
