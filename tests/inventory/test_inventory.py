"""What playbooks know of a site, as plain data."""

import json
from pathlib import Path

import pytest
from pydantic import BaseModel

from rackwright.errors import Refusal
from rackwright.inventory import inventory
from rackwright.site.catalog import Catalog
from rackwright.site.settings import Settings
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site():
    return Site.load(ROOT / "inventory" / "lab")


@pytest.fixture(scope="module")
def found(site):
    return inventory(site, Catalog.load())


def test_groups_of_a_rack(found):
    assert found.groups == {
        "inference": ["gpu-01", "gpu-02", "gpu-03"],
        "training": ["train-01"],
        "agents": ["agents-01"],
        "control": ["control-01", "control-02", "control-03"],
        "gpu": ["gpu-01", "gpu-02", "gpu-03", "train-01"],
        "k3s_server": ["gpu-01"],
        "k3s_workers": [],
        "kubernetes_control": ["control-01", "control-02", "control-03"],
        "kubernetes_workers": ["gpu-01", "gpu-02", "gpu-03", "train-01", "agents-01"],
    }
    assert set(found.children) == {"phase1", "phase2"}


@pytest.mark.parametrize("name", ["example", "workstation"])
def test_a_site_of_one_phase_has_every_group_and_none_in_the_other(name):
    groups = inventory(Site.load(ROOT / "inventory" / name), Catalog.load()).groups
    assert len(groups["k3s_server"]) == 1
    assert groups["kubernetes_control"] == groups["kubernetes_workers"] == []


def test_variables_are_plain_and_each_block_stands_once(site, found):
    everything = json.loads(json.dumps([found.hosts, found.shared]))
    assert everything == [found.hosts, found.shared]
    assert set(found.hosts["gpu-01"]) == {"ansible_host", "host"}
    assert found.hosts["gpu-01"]["ansible_host"] == "10.30.0.11"
    assert set(found.shared["site"]) == set(type(site).model_fields) - {"hosts"}


@pytest.mark.parametrize("name", ["all", "agents", "phase2", "localhost", "gpu"])
def test_a_host_named_like_a_group_is_refused(site, name):
    first, *others = site.hosts
    named = site.model_copy(update={"hosts": (first.model_copy(update={"name": name}), *others)})
    with pytest.raises(Refusal, match=f"The host {name} has the name of a group"):
        inventory(named, Catalog.load())


def settings(kind: type[BaseModel]) -> set[type[BaseModel]]:
    return {kind}.union(*(settings(inner) for inner in kind.__subclasses__()))


def test_no_setting_is_named_like_a_method_of_a_dictionary():
    """Jinja would find the method where a playbook writes `host.gpus.items`."""
    taken = set(dir(dict))
    for kind in settings(Settings):
        assert not taken & set(kind.model_fields), kind
