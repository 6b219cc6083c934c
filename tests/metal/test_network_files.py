"""Files of the network, for each system that configures it in its own way."""

import configparser

import pytest
import yaml
from network_facts import NETWORKS, PORTS, SYSTEMS, converged, fresh, host

from rackwright.errors import Refusal
from rackwright.metal import netplan, network
from rackwright.metal.ifupdown import without
from rackwright.metal.links import links
from rackwright.site.port_mtus import port_mtus

VLANS = [{"id": 120, "over": "bond0", "network": "storage"}]
TAGGED = {"nics": host().model_dump()["nics"][:2], "vlans": VLANS}


def change(daemon, facts=None, **changed):
    return network.change(host(**changed), NETWORKS, SYSTEMS[daemon], facts or fresh())


def test_each_link_has_its_networks_mtu():
    assert port_mtus(host(), NETWORKS) == {"bond0": 9000, "node0": 9000, "node1": 9000, "fabric0": 4200, "spare0": 1500}
    sizes = port_mtus(host(**TAGGED), NETWORKS)
    assert (sizes["bond0"], sizes["bond0.120"]) == (9000, 4200)
    only_tagged = {"nics": TAGGED["nics"], "bonds": [{"name": "bond0", "nics": ["node0", "node1"]}]}
    both = [*VLANS, {"id": 110, "over": "bond0", "network": "nodes"}]
    assert port_mtus(host(**only_tagged, vlans=both), NETWORKS)["node1"] == 9000, "the largest of those it carries"


def test_a_long_vlan_name_is_one_that_the_kernel_takes():
    ports = [{"name": "a-port-of-15-ch", "mac": "b8:3f:d2:00:01:10", "speed_gbps": 25}]
    tagged = [{"id": 4094, "over": "a-port-of-15-ch", "network": "nodes"}]
    names = [link.name for link in links(host(nics=ports, bonds=[], vlans=tagged, storage_address=None), NETWORKS)]
    assert names == ["a-port-of-15-ch", "a-port-of-.4094"]


def test_a_port_is_named_by_what_it_is_on_every_system():
    for daemon in SYSTEMS:
        files = change(daemon)["files"]
        node0 = files["/etc/systemd/network/05-rackwright-node0.link"]
        assert "PermanentMACAddress=b8:3f:d2:00:01:10\nType=!vlan bond bridge\n" in node0
        assert "Path=pci-0000:1b:00.0\n" in files["/etc/systemd/network/05-rackwright-fabric0.link"]


def test_networkd_makes_a_bond_by_lacp():
    files = change("networkd")["files"]
    bond = files["/etc/systemd/network/05-rackwright-bond0.netdev"]
    for line in ("Kind=bond", "Mode=802.3ad", "TransmitHashPolicy=layer3+4", "LACPTransmitRate=fast", "MTUBytes=9000"):
        assert f"\n{line}\n" in bond
    assert "MACAddress=b8:3f:d2:00:01:10" in bond
    settings = files["/etc/systemd/network/05-rackwright-bond0.network"]
    for line in ("Address=10.20.0.11/24", "Gateway=10.20.0.1", "DNS=10.20.0.3", "RequiredForOnline=yes"):
        assert f"\n{line}\n" in settings
    assert "\nBond=bond0\n" in files["/etc/systemd/network/05-rackwright-node1.network"]
    assert "\nAddress" not in files["/etc/systemd/network/05-rackwright-spare0.network"]


def test_networkd_makes_a_vlan_over_the_bond():
    files = change("networkd", **TAGGED)["files"]
    assert "\nId=120\n" in files["/etc/systemd/network/05-rackwright-bond0.120.netdev"]
    assert "\nVLAN=bond0.120\n" in files["/etc/systemd/network/05-rackwright-bond0.network"]
    assert "\nAddress=10.20.1.11/24\n" in files["/etc/systemd/network/05-rackwright-bond0.120.network"]


def test_netplan_is_one_document_that_only_its_owner_reads():
    files = change("netplan", **TAGGED)["files"]
    found = yaml.safe_load(files[netplan.FILE])["network"]
    assert found["bonds"]["bond0"]["parameters"]["mode"] == "802.3ad"
    assert found["bonds"]["bond0"]["routes"] == [{"to": "default", "via": "10.20.0.1"}]
    assert found["vlans"]["bond0.120"]["addresses"] == ["10.20.1.11/24"]
    assert {each["mtu"] for each in found["ethernets"].values()} == {9000}
    assert "set-name" not in files[netplan.FILE], "names come by .link files"


def test_network_manager_has_a_profile_for_each_link():
    files = change("network_manager", **TAGGED)["files"]

    def profile(name):
        parser = configparser.ConfigParser(interpolation=None)
        parser.read_string(files[f"/etc/NetworkManager/system-connections/rackwright-{name}.nmconnection"])
        return parser

    assert profile("node0")["connection"]["master"] == "bond0"
    assert "ipv4" not in profile("node0")
    assert profile("bond0")["bond"]["lacp_rate"] == "fast"
    assert profile("bond0")["ipv4"]["address1"] == "10.20.0.11/24"
    assert profile("bond0.120")["vlan"]["parent"] == "bond0"
    assert len({profile(name)["connection"]["uuid"] for name in ("node0", "node1", "bond0", "bond0.120")}) == 4


@pytest.mark.parametrize("daemon", SYSTEMS)
def test_a_second_run_changes_nothing(daemon):
    first = change(daemon)
    second = change(daemon, converged(first["files"]))
    assert second["differences"] == []
    assert {path: text for path, text in second["files"].items() if first["files"][path] != text} == {}


@pytest.mark.parametrize("daemon", SYSTEMS)
def test_files_of_an_earlier_site_file_go(daemon):
    first = change(daemon, **TAGGED)["files"]
    second = change(daemon, fresh(dict(first)))["files"]
    gone = {path for path, text in second.items() if text is None}
    assert gone == {path for path in first if "120" in path}


def test_a_fresh_host_says_what_differs():
    found = change("networkd")["differences"]
    assert "node0 is called enp65s0f0" in found
    assert "bond0 is not there" in found


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (lambda facts: facts["links"][0].update(mtu=1500), "node0 has MTU 1500"),
        (lambda facts: facts["links"][1].pop("master"), "node1 is in no bond"),
        (lambda facts: facts["links"][-1]["linkinfo"]["info_data"].update(ad_lacp_rate="slow"), "layer3+4/slow"),
        (lambda facts: facts["addresses"].pop(0), "bond0 bears no address"),
        (lambda facts: facts["routes"].clear(), "no default route over 10.20.0.1"),
    ],
)
def test_what_was_changed_by_hand_is_seen(broken, words):
    facts = converged({})
    broken(facts)
    assert any(words in each for each in network.network_differences(host(), NETWORKS, facts))


def test_a_bond_without_a_partner_is_seen():
    facts = converged({})
    assert network.lonely_bonds(host(), facts) == []
    facts["links"][-1]["linkinfo"]["info_data"]["ad_info"]["partner_mac"] = "00:00:00:00:00:00"
    assert network.lonely_bonds(host(), facts) == ["bond0"]


def test_a_port_that_is_not_there_is_refused():
    nics = [*host().model_dump()["nics"][:3], {"name": "spare0", "mac": "b8:3f:d2:ff:ff:ff", "speed_gbps": 10}]
    with pytest.raises(Refusal, match=r"spare0 \(b8:3f:d2:ff:ff:ff\)"):
        change("networkd", nics=nics)


def test_resolvers_of_the_host_stay_where_the_site_names_none():
    own = NETWORKS.model_copy(update={"name_servers": ()})
    files = network.change(host(), own, SYSTEMS["networkd"], fresh())["files"]
    assert "\nDNS=192.0.2.53\n" in files["/etc/systemd/network/05-rackwright-bond0.network"]


def test_cloud_init_lets_the_network_be():
    path = "/etc/cloud/cloud.cfg.d/99-rackwright-network.cfg"
    assert path not in change("netplan")["files"]
    assert change("netplan", fresh({path: ""}))["files"][path] == "network: {config: disabled}\n"


INSTALLER = """\
network:
  version: 2
  ethernets:
    enp65s0f0: {addresses: [10.20.0.11/24], routes: [{to: default, via: 10.20.0.1}]}
    uplink: {match: {macaddress: "B8:3F:D2:00:01:12"}, set-name: uplink}
    eno2: {dhcp4: true}
    rest: {match: {name: "en*"}, dhcp4: true}
  bridges:
    br0: {interfaces: [enp65s0f0]}
    br1: {interfaces: [eno2]}
  vlans:
    br0.5: {id: 5, link: br0}
"""


def test_netplan_of_the_installer_keeps_what_is_not_the_sites():
    path = "/etc/netplan/50-cloud-init.yaml"
    found = yaml.safe_load(change("netplan", fresh({path: INSTALLER}))["files"][path])["network"]
    assert set(found["ethernets"]) == {"eno2", "rest"}
    assert set(found["bridges"]) == {"br1"}
    assert "vlans" not in found


def test_netplan_of_the_installer_goes_where_nothing_else_is_in_it():
    path = "/etc/netplan/00-installer-config.yaml"
    alone = "network: {version: 2, renderer: networkd, ethernets: {enp65s0f0: {dhcp4: true}}}"
    assert change("netplan", fresh({path: alone}))["files"][path] is None


def test_profiles_of_the_sites_ports_go_and_others_stay():
    folder = "/etc/NetworkManager/system-connections"
    ours = {
        f"{folder}/enp65s0f0.nmconnection": "[connection]\ntype=ethernet\ninterface-name=enp65s0f0\n",
        f"{folder}/by-mac.nmconnection": "[connection]\n[ethernet]\nmac-address=B8:3F:D2:00:01:12\n",
        "/etc/sysconfig/network-scripts/ifcfg-enp65s0f1": 'DEVICE="enp65s0f1"\n',
    }
    other = {f"{folder}/eno2.nmconnection": "[connection]\ninterface-name=eno2\n"}
    files = change("network_manager", fresh({**ours, **other}))["files"]
    assert {path for path, text in files.items() if text is None} == set(ours)


def test_another_bond_of_our_name_goes():
    path = "/etc/systemd/network/20-bond.netdev"
    assert change("networkd", fresh({path: "[NetDev]\nName=bond0\nKind=bond\n"}))["files"][path] is None


INTERFACES = """\
source /etc/network/interfaces.d/*
auto lo enp65s0f0
iface lo inet loopback
# the installer's
allow-hotplug enp65s0f0
iface enp65s0f0 inet static
    address 10.20.0.11/24

auto eno2
iface eno2 inet dhcp
"""


def test_interfaces_lose_the_sites_ports():
    assert without(INTERFACES, {"enp65s0f0"}) == (
        "source /etc/network/interfaces.d/*\nauto lo\niface lo inet loopback\n# the installer's\n\n"
        "auto eno2\niface eno2 inet dhcp\n"
    )
    assert without(INTERFACES, {"other"}) == INTERFACES


def test_peers_are_met_on_each_network_that_both_are_in():
    other, alone = host(name="gpu-02", address="10.20.0.12"), host(name="a-01", address="10.20.0.31")
    alone = alone.model_copy(update={"storage_address": None})
    found = network.peers(host(), NETWORKS, [host(), other, alone])
    assert [(each["name"], each["mtu"]) for each in found] == [("gpu-02", 9000), ("gpu-02", 4200), ("a-01", 9000)]


def test_names_that_are_there_are_mapped_to_names_that_are_wished():
    assert change("networkd")["names"] == dict(zip(PORTS, ("node0", "node1", "fabric0", "spare0"), strict=False))
