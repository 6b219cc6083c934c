"""The network of a booted host: from an installer's plain one to bonds, over mistakes, reboots and power cuts.

The tests follow one another on one host.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from bench import MTU, bench

ROOT = Path(__file__).resolve().parents[2]
PLAYBOOK = Path(__file__).with_name("network.yml")
HOST = "ws-01"
WRONG_TAG = [{"id": 999, "over": "bond0", "network": "nodes"}]
SECONDS = 45  # for a trial that fails; those that succeed do not wait
BEGIN = "TASK [network : Begin the trial"  # said with its result


@pytest.fixture(scope="module")
def machines(rack, tmp_path_factory):
    return rack(bench(tmp_path_factory.mktemp("sites") / "right"), HOST)


@pytest.fixture(scope="module")
def guest(machines):
    return machines[HOST]


@pytest.fixture(scope="module")
def wrong(machines, tmp_path_factory):
    """How to run playbooks with a site whose node network has a tag that the switch does not know."""
    bonds = [{"name": "bond0", "nics": ["lan0", "lan1"]}]
    return replace(
        machines.runner, site=bench(tmp_path_factory.mktemp("sites") / "wrong", bonds=bonds, vlans=WRONG_TAG)
    )


@pytest.fixture(scope="module")
def converge(machines):
    """Run the role, by default with the site that the rack is cabled for."""

    def run(*options, by=machines.runner):
        return by.playbook(PLAYBOOK, *options, limit=[HOST], variables={"network_seconds": SECONDS})

    return run


def assert_is_the_sites(guest):
    """What the kernel says, by words that have nothing to do with the role."""
    assert guest.says("cat /sys/class/net/bond0/bonding/mode") == "802.3ad 4"
    assert set(guest.says("cat /sys/class/net/bond0/bonding/slaves").split()) == {"lan0", "lan1"}
    sizes = guest.says("cd /sys/class/net; cat bond0/mtu lan0/mtu lan1/mtu fabric0/mtu")
    assert sizes.split() == [str(MTU)] * 4
    assert f"{guest.host.address}/24" in guest.says("ip -br -4 address show bond0")
    assert f"{guest.host.storage_address}/24" in guest.says("ip -br -4 address show fabric0")
    assert "dev bond0" in guest.says("ip route show default")


def test_an_empty_host_is_only_looked_at(guest, converge):
    look = "ls -R /etc/systemd /usr/local/sbin; ip -br address"
    before = guest.says(look)
    ran = converge("--check", "--diff").demand()
    assert ran.stats[HOST]["changed"] > 0
    assert "+Mode=802.3ad" in ran.said
    assert guest.says(look) == before


def test_a_wrong_network_is_taken_back_by_itself(guest, converge, wrong):
    before = guest.boot()
    ran = converge(by=wrong)
    assert not ran.succeeded
    assert f"Nobody reached this host at {guest.host.address}" in " ".join(ran.said.split())
    assert guest.boot() == before, "without a reboot"
    assert "rackwright" not in guest.says("ls /etc/systemd/network")
    assert "bond0" not in guest.says("ls /sys/class/net")


def test_an_installers_network_becomes_the_sites(guest, converge):
    converge().demand()
    assert_is_the_sites(guest)
    assert "1 received" in guest.says(f"ping -c 1 -W 5 -M do -s {MTU - 28} 192.168.40.1")


def test_a_reboot_keeps_it_and_a_second_run_changes_nothing(guest, converge):
    guest.reboot()
    assert_is_the_sites(guest)
    assert guest.says("systemctl is-active rackwright-port-lan1.service") == "active"
    assert converge().demand().changed == {}


def test_a_converged_host_is_only_looked_at(converge):
    assert converge("--check", "--diff").demand().changed == {}


def test_a_power_cut_in_a_trial_boots_into_the_network_before(machines, guest, wrong):
    with wrong.start(PLAYBOOK, limit=[HOST], variables={"network_seconds": 900}) as process:
        for line in process.stdout:
            if line.startswith(BEGIN):
                break
        while machines.run(["timeout", "30", *guest.shell("-o", "ConnectTimeout=20"), "true"]).returncode == 0:
            pass  # until the wrong network is in force
        guest.power_cut()
        process.terminate()
    guest.power_on()
    assert_is_the_sites(guest)
    assert guest.says("cat /etc/rackwright/network/outcome") == "restored"


def test_what_was_changed_by_hand_is_mended(guest, converge):
    guest.ssh("ip link set fabric0 mtu 1500")
    assert converge().demand().changed.keys() == {HOST}
    assert_is_the_sites(guest)


def test_preflight_has_nothing_to_change(machines, tmp_path):
    report = tmp_path / "report.json"
    machines.ansible(ROOT / "playbooks" / "preflight.yml", variables={"preflight_report": str(report)})
    found = {each["check"] for each in json.loads(report.read_text())["data"]["findings"]}
    assert not found & {"ports are there", "ports have their mtu", "address is the sites", "default route exists"}
