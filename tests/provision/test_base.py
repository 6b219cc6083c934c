"""What every host has, on a booted one that swaps and keeps no time."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from bench import bench

from rackwright.guests.stand_ins.deb import Deb, write_repository

pytestmark = pytest.mark.one_role

PLAYBOOK = Path(__file__).with_name("base.yml")
HOST = "ws-01"


@dataclass
class Host:
    """The guest, and a way to run the role on it."""

    machines: object
    guest: object

    def converge(self, *options):
        return self.machines.ansible(PLAYBOOK, *options).demand()


@pytest.fixture(scope="module")
def host(rack, tmp_path_factory):
    machines = rack(bench(tmp_path_factory.mktemp("sites") / "bench"), HOST)
    guest = machines[HOST]
    guest.ssh(
        "dd if=/dev/zero of=/swapfile bs=1M count=16 status=none && chmod 600 /swapfile && mkswap -q /swapfile"
        " && echo '/swapfile none swap sw 0 0' >> /etc/fstab && swapon /swapfile"
        " && printf '[Swap]\\nWhat=/swapfile\\n[Install]\\nWantedBy=swap.target\\n' > /etc/systemd/system/other.swap"
    )
    return Host(machines, guest)


def test_an_empty_host_is_only_looked_at(host):
    look = "cat /etc/fstab /etc/chrony/chrony.conf /proc/swaps; ls -R /etc/sysctl.d /etc/systemd /etc/modules-load.d"
    before = host.guest.says(look)
    assert host.converge("--check", "--diff").stats[HOST]["changed"] > 0
    assert host.guest.says(look) == before


def test_a_host_gets_what_every_host_has(host):
    host.converge()
    says = host.guest.says
    assert says("swapon --show --noheadings") == ""
    assert "other.swap" not in says("ls /etc/systemd/system")
    assert says("sysctl -n vm.overcommit_memory kernel.panic vm.max_map_count").split() == ["1", "10", "1048576"]
    assert says("hostnamectl --static") == HOST
    assert says("systemctl is-active chrony") == "active"
    assert "192.168.40.1" in says("chronyc -n sources")
    assert says("systemctl show --property=DefaultLimitMEMLOCK") == "DefaultLimitMEMLOCK=infinity"
    assert '"linux-"' in says("apt-config dump Unattended-Upgrade::Package-Blacklist")


def test_what_is_missing_is_brought_out_of_lists_that_are_read_anew(host, tmp_path):
    """A fresh system's lists are as old as its image, or not there at all."""
    write_repository(tmp_path / "system", [Deb("ethtool", "9.9")], "tests")
    address = host.machines.serve(tmp_path)
    host.guest.ssh(
        "dpkg --purge --force-depends ethtool 2>/dev/null"
        f" && echo 'deb [trusted=yes] {address}/system ./' > /etc/apt/sources.list.d/system.list"
    )
    host.converge()
    assert host.guest.says("dpkg-query -W -f '${Version}' ethtool") == "9.9"


def test_after_a_reboot_a_second_run_changes_nothing(host):
    host.guest.reboot()
    assert host.guest.says("swapon --show --noheadings") == ""
    assert host.guest.says("sysctl -n net.bridge.bridge-nf-call-iptables") == "1"
    assert host.converge().changed == {}
    assert host.converge("--check").changed == {}
