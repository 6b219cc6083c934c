"""Guests themselves: what an installer leaves, a bond, tags, MTUs, a power cut; and what a host for tools holds."""

from pathlib import Path

import pytest
import yaml

from rackwright.guests.keys import close_connections
from rackwright.guests.switch import MAC

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PLAYBOOK = HERE / "agents.yml"
HELD = (
    "cd /sys/fs/cgroup && cat system.slice/cpu.weight system.slice/memory.min user.slice/cpu.weight"
    " && sysctl -n kernel.core_pattern fs.suid_dumpable"
)
AS_A_HOST_FOR_TOOLS = ["10000", str(3584 * 1024**2), "10000", "|/bin/false", "0"]
FILES = {
    "20-bond0.netdev": "[NetDev]\nName=bond0\nKind=bond\nMTUBytes=9000\n"
    "[Bond]\nMode=802.3ad\nMIIMonitorSec=0.1\nLACPTransmitRate=fast\n",
    "20-storage.netdev": "[NetDev]\nName=storage\nKind=vlan\n[VLAN]\nId=120\n",
    "20-ports.network": "[Match]\nPath=pci-0000:41:00.*\n[Link]\nMTUBytes=9000\n[Network]\nBond=bond0\n",
    "20-bond0.network": "[Match]\nName=bond0\n[Network]\nAddress=10.30.0.31/24\nVLAN=storage\n",
    "20-storage.network": "[Match]\nName=storage\n[Link]\nMTUBytes=9000\n[Network]\nAddress=10.30.1.31/24\n",
}
REWIRE = "rm /etc/systemd/network/10-installer.network; ip link set enp65s0f0 down; systemctl restart systemd-networkd"
UNTIL = "for _ in $(seq 120); do {}; then exit 0; fi; sleep 1; done; exit 1"
AGGREGATED = UNTIL.format("if [ $(grep -c 'port state: 6[13]$' /proc/net/bonding/bond0) = 4 ]")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The lab, with a storage network of plain frames behind a tag."""
    folder = tmp_path_factory.mktemp("lab")
    text = yaml.safe_load((ROOT / "inventory/lab/site.yml").read_text())
    text["networks"]["storage"]["mtu"] = 1500
    agents = next(host for host in text["hosts"] if host["name"] == "agents-01")
    agents["storage_address"] = "10.30.1.31"
    agents["vlans"] = [{"id": 120, "over": "bond0", "network": "storage"}]
    (folder / "site.yml").write_text(yaml.safe_dump(text, sort_keys=False))
    return folder


@pytest.fixture(scope="module")
def machines(rack, site):
    return rack(site, "agents-01")


@pytest.fixture(scope="module")
def guest(machines):
    return machines["agents-01"]


def test_it_is_what_an_installer_leaves(guest):
    assert guest.says("hostname") == "agents-01"
    assert guest.says("ip -4 -o address show enp65s0f0").split()[3] == "10.30.0.31/24"
    assert guest.says("ls /sys/class/net").split() == ["enp65s0f0", "enp65s0f1", "lo"]
    assert guest.says("systemctl --failed --plain --no-legend") == ""


def test_ports_and_drives_are_those_of_the_site(guest):
    properties = guest.says("udevadm info /sys/class/net/enp65s0f1")
    assert "ID_PATH=pci-0000:41:00.1" in properties
    assert guest.says("cat /sys/class/net/enp65s0f0/speed") == "25000"
    drive = "/dev/disk/by-id/nvme-SAMSUNG_MZQL23T8HCLS_S64HNE0T000501"
    assert guest.says(f"blockdev --getsize64 {drive}") == str(3840 * 10**9 // 512 * 512)
    assert guest.says(f"lsblk -dno SERIAL {drive}") == "S64HNE0T000501"


def test_ansible_reaches_it_with_the_sites_own_inventory(machines, guest, monkeypatch):
    """And makes a host for agents' tools of it, at once and once."""
    before = guest.says(HELD)
    assert machines.ansible(PLAYBOOK, "--check", "--diff").demand().stats["agents-01"]["changed"] > 0
    assert guest.says(HELD) == before
    with monkeypatch.context() as as_users_do:
        as_users_do.delenv("ANSIBLE_STRATEGY", raising=False)
        assert "agents : Tell the kernel now" in machines.ansible(PLAYBOOK).demand().changed["agents-01"]
    assert machines.ansible(PLAYBOOK).demand().stats["agents-01"]["changed"] == 0
    assert guest.says(HELD).split("\n") == AS_A_HOST_FOR_TOOLS
    sockets = list((machines.folder / "cp").iterdir())
    assert len(sockets) == 2  # Ansible's, which is kept, and the one that commands in a guest go over
    close_connections(machines.folder)  # as at the end of the rack
    assert not any(socket.exists() for socket in sockets)


@pytest.fixture(scope="module")
def bond(guest):
    for name, text in FILES.items():
        guest.ssh(f"cat >/etc/systemd/network/{name}", text=text)
    guest.ssh(f"systemd-run --quiet --unit=rewire sh -c '{REWIRE}'")
    guest.wait()
    guest.ssh(AGGREGATED)


@pytest.mark.usefixtures("bond")
class TestBond:
    def test_the_switch_is_its_partner_on_both_links(self, guest):
        said = guest.says("cat /proc/net/bonding/bond0")
        assert f"Partner Mac Address: {MAC.hex(':')}" in said
        assert "Number of ports: 2" in said

    def test_jumbo_frames_pass_in_their_network_and_not_in_the_one_of_plain_frames_behind_the_tag(self, guest):
        assert guest.ssh("ping -c 3 -W 20 -M do -s 8972 10.30.0.1", check=False).returncode == 0
        assert guest.ssh("ping -c 3 -W 20 -M do -s 1472 10.30.1.254", check=False).returncode == 0
        assert guest.ssh("ping -c 3 -W 5 -M do -s 1473 10.30.1.254", check=False).returncode == 1

    def test_a_power_cut_leaves_what_was_written_and_the_wiring(self, guest):
        drive = "/dev/disk/by-id/nvme-SAMSUNG_MZQL23T8HCLS_S64HNE0T000501"
        guest.ssh(f"printf kept | dd of={drive} conv=fsync 2>&1; sync")
        before = guest.boot()
        guest.power_cut()
        assert not guest.is_on
        guest.power_on()
        assert guest.boot() != before
        assert guest.says(f"head -c 4 {drive}") == "kept"
        assert guest.says(HELD).split("\n") == AS_A_HOST_FOR_TOOLS
        guest.ssh(AGGREGATED)
