"""What a host is asked follows from the site alone."""

import json
from pathlib import Path

import pytest
import yaml
from fleet import ROOT, site_of

from rackwright.preflight.needs import needs
from rackwright.preflight.questions import questions
from rackwright.preflight.upstream import mirrored, upstreams
from rackwright.site.catalog import Catalog
from rackwright.site.operating_system import OperatingSystem
from rackwright.site.site import Site

SPECS = ROOT / "playbooks" / "roles" / "preflight_facts" / "meta" / "argument_specs.yml"


def host(name):
    site = site_of(name)
    return site, next(each for each in site.hosts if each.name == name)


def asked(name, phase=2):
    site, found = host(name)
    return questions(site, found, phase, Catalog.load(), "s4lt")


def test_peers_are_on_the_networks_that_both_are_in():
    networks = {(peer["name"], peer["network"]) for peer in asked("gpu-01")["peers"]}
    assert {("gpu-02", "nodes"), ("gpu-02", "storage"), ("agents-01", "nodes"), ("control-01", "nodes")} <= networks
    assert ("agents-01", "storage") not in networks
    assert ("gpu-01", "nodes") not in networks


def test_only_hosts_with_etcd_are_measured():
    assert asked("control-01")["flush_folder"] == "/var/lib/etcd"
    assert asked("gpu-01")["flush_folder"] == ""
    assert asked("ws-01", 1)["flush_folder"].startswith("/var/lib/rancher")


def test_doors_are_those_of_the_peers_part():
    doors = {(door["name"], door["port"]) for door in asked("agents-01")["doors"]}
    assert {("control-01", 6443), ("control-01", 2379), ("gpu-01", 10250)} <= doors
    assert ("gpu-01", 6443) not in doors


def test_packages_follow_the_system_and_the_source_of_the_driver():
    assert "linux-headers-{kernel}" in asked("gpu-01")["packages"]
    assert "linux-headers-{kernel}" not in asked("agents-01")["packages"]
    site, gpu = host("gpu-01")
    rocky = gpu.model_copy(update={"operating_system": OperatingSystem(name="rocky", release="9")})
    assert "kernel-devel-{kernel}" in questions(site, rocky, 2, Catalog.load(), "")["packages"]
    assert any("rhel9" in upstream.address for upstream in upstreams(site, rocky, 2, Catalog.load()))


def test_ports_of_each_part():
    site, control = host("control-01")
    assert {6443, 2379, 2380, 10250, 10257, 10259, 179} <= {need.port for need in needs(site, control, 2)}
    site, gpu = host("gpu-01")
    assert {need.port for need in needs(site, gpu, 2)} == {10250, 179}
    assert {6443, 2379, site.gateway.port} <= {need.port for need in needs(site, gpu, 1)}


@pytest.mark.parametrize("name", ["example", "lab", "workstation"])
def test_the_role_takes_the_questions_of_every_sample(name):
    options = yaml.safe_load(SPECS.read_text())["argument_specs"]["main"]["options"]["preflight_facts_questions"][
        "options"
    ]
    site = Site.load(Path(ROOT, "inventory", name))
    for phase in site.phases:
        for each in site.hosts_in(phase):
            found = questions(site, each, phase, Catalog.load(), "s4lt")
            assert set(found) == set(options)
            json.dumps(found)


def test_k3s_is_asked_for_where_the_site_takes_it_from():
    site, catalog = site_of("ws-01"), Catalog.load()
    host = site.hosts_in(1)[0]

    def k3s(source):
        found = upstreams(site, host, 1, mirrored(catalog, source))
        return [each.address for each in found if each.purpose == "k3s"]

    assert k3s("") == ["https://github.com/k3s-io/k3s/releases"]
    version = catalog.kubernetes.k3s.replace("+", "%2B")
    assert k3s("https://mirror.lab.internal/k3s/") == [f"https://mirror.lab.internal/k3s/{version}/sha256sum-amd64.txt"]
    assert k3s("/srv/k3s") == []
    assert k3s("~/k3s") == []
