"""Words of commands as machines really say them."""

import json

import pytest
from fleet import said

from rackwright.preflight.answers import Clock, Disks, Network, Ping, Said, Swap
from rackwright.preflight.parsers import clock, drives, links, memory, pings, sockets
from rackwright.preflight.parsers.operating_system import (
    cgroups_are_unified,
    kernel_version,
    release,
    secure_boot_is_on,
)
from rackwright.preflight.seen import NotSeen

MISSING = Said(code=127, out="", error="x is not installed")


def test_os_release_with_and_without_quotes():
    assert release('NAME="Rocky Linux"\nID="rocky"\nVERSION_ID="9.6"\n') == ("rocky", "9.6")
    assert release("ID=debian\nVERSION_ID='13'\n") == ("debian", "13")
    for nothing in (None, "", "VERSION_ID=1"):
        with pytest.raises(NotSeen):
            release(nothing)


def test_kernels():
    assert kernel_version("5.14.0-570.42.2.el9_6.x86_64") == (5, 14)
    assert kernel_version("6.12.48+deb13-amd64") == (6, 12)
    with pytest.raises(NotSeen):
        kernel_version("Linux")


def test_control_groups_are_version_2_where_the_root_of_all_is():
    assert cgroups_are_unified("cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0")
    assert not cgroups_are_unified("tmpfs /sys/fs/cgroup tmpfs ro 0 0\ncgroup /sys/fs/cgroup/cpu cgroup rw 0 0")
    with pytest.raises(NotSeen):
        cgroups_are_unified("")


def test_secure_boot_is_the_last_byte_of_the_firmwares_variable():
    assert secure_boot_is_on((6, 0, 0, 0, 1))
    assert not secure_boot_is_on((6, 0, 0, 0, 0))
    assert not secure_boot_is_on(())


def test_memory_and_huge_pages():
    words = (
        "MemTotal:       1056964608 kB\nHugePages_Total:    1024\nHugepagesize:       2048 kB\nActive(anon):  1 kB\n"
    )
    assert memory.memory_gib(words) == 1008
    assert memory.huge_pages_gib(words) == 2
    with pytest.raises(NotSeen):
        memory.memory_gib("MemFree: 1 kB")


def test_swap_now_and_after_a_reboot():
    words = (
        "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
        "/dev/dm-1                               partition\t4194300\t\t0\t\t-2\n"
    )
    fstab = "# UUID=1 none swap sw 0 0\n/dev/mapper/vg-swap none swap sw 0 0\nUUID=2 / ext4 defaults 0 1\n"
    unit = "dev-dm\\x2d1.swap loaded active active Swap Partition\nold.swap loaded inactive dead /old\n"
    found = Swap(swaps=words, fstab=fstab, units=said(unit), zram=("/etc/default/zramswap",))
    assert memory.swap_in_use(found) == ["/dev/dm-1"]
    assert memory.swap_that_returns(found) == [
        "/dev/mapper/vg-swap in /etc/fstab",
        "dev-dm\\x2d1.swap",
        "/etc/default/zramswap",
    ]


def test_who_keeps_the_clock():
    good = (
        "0A1E0002,10.30.0.2,3,1764448912.104388912,0.000012408,-0.000003911,0.000021804,12.1,-0.002,"
        "0.018,0.0004,0.0003,64.6,Normal\n"
    )
    bad = "7F7F0101,,0,0.000000000,0.000000000,0.000000000,0.000000000,0.0,0.0,0.0,1.0,1.0,0.0,Not synchronised\n"
    shown = said("Timezone=Etc/UTC\nNTP=yes\nNTPSynchronized=yes\n")
    assert clock.is_synchronised(Clock(chrony=said(good), timedatectl=said("NTPSynchronized=no\n")))
    assert not clock.is_synchronised(Clock(chrony=said(bad), timedatectl=shown))
    assert clock.is_synchronised(Clock(chrony=said("", 1, "506 Cannot talk to daemon"), timedatectl=shown))
    with pytest.raises(NotSeen, match="not been booted with systemd"):
        clock.is_synchronised(Clock(timedatectl=said("", 1, "System has not been booted with systemd as init system.")))


LINKS = [
    {
        "ifindex": 2,
        "ifname": "enp65s0f0np0",
        "flags": ["UP"],
        "mtu": 9000,
        "master": "bond0",
        "operstate": "UP",
        "address": "b8:3f:d2:00:01:10",
        "permaddr": "b8:3f:d2:00:01:11",
        "parentbus": "pci",
        "parentdev": "0000:41:00.0",
    },
    {
        "ifindex": 9,
        "ifname": "vlan120",
        "link": "bond0",
        "mtu": 1500,
        "address": "B8:3F:D2:00:01:10",
        "linkinfo": {"info_kind": "vlan", "info_data": {"protocol": "802.1Q", "id": 120}},
    },
]


def test_a_port_in_a_bond_keeps_the_address_that_it_was_built_with():
    found = links.links(Network(links=said(json.dumps(LINKS))))
    assert found["enp65s0f0np0"].mac == "b8:3f:d2:00:01:11"
    assert found["vlan120"].mac == "b8:3f:d2:00:01:10"
    assert found["vlan120"].linkinfo.info_kind == "vlan"


def test_routes_and_speeds():
    routes = '[{"dst":"default","gateway":"10.30.0.1","dev":"bond0","protocol":"static","flags":[]}]\n'
    assert links.default_routes(Network(default_routes=said(routes)))[0].dev == "bond0"
    assert links.default_routes(Network(default_routes=said(""))) == ()
    assert links.speed_gbps("100000") == 100
    assert links.speed_gbps("-1") is None
    assert links.speed_gbps("") is None
    with pytest.raises(NotSeen, match="ip route: Cannot open netlink socket"):
        links.default_routes(Network(default_routes=said("", 1, "Cannot open netlink socket: Permission denied\n")))


def ping(out, code=0, error=""):
    return Ping(code=code, out=out, error=error, name="a", network="nodes", address="10.0.0.2", mtu=9000, bytes=9000)


def test_pings():
    answered = (
        "PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.\n64 bytes from 10.0.0.2: icmp_seq=1 ttl=63 time=0.410 ms\n"
        "64 bytes from 10.0.0.2: icmp_seq=2 ttl=63 time=0.210 ms\n"
        "64 bytes from 10.0.0.2: icmp_seq=3 ttl=63 time=0.310 ms\n"
    )
    assert pings.reached(ping(answered)) == (True, None, None, 0.310, 1)
    own = "ping: local error: message too long, mtu=1500\n"
    assert pings.reached(ping("", 1, own)).own_limit == 1500
    older = "ping: local error: Message too long, mtu: 1500\n"
    assert pings.reached(ping("", 1, older)).own_limit == 1500
    path = "From 10.0.0.1 icmp_seq=1 Frag needed and DF set (mtu = 1500)\n"
    assert pings.reached(ping(path, 1)).path_limit == ("10.0.0.1", 1500)
    assert not pings.reached(ping("3 packets transmitted, 0 received, 100% packet loss\n", 1)).answered
    with pytest.raises(NotSeen, match="not installed"):
        pings.reached(ping("", 127, "ping is not installed"))


def test_listeners():
    words = (
        'tcp   LISTEN 0      4096              *:6443             *:*    users:(("k3s-server",pid=901,fd=11))        \n'
        'tcp   LISTEN 0      128            [::]:22            [::]:*    users:(("sshd",pid=700,fd=4))\n'
        "udp   UNCONN 0      0           0.0.0.0:8472       0.0.0.0:*          \n"
    )
    assert sockets.listeners(said(words)) == (
        ("tcp", "*", 6443, "k3s-server"),
        ("tcp", "[::]", 22, "sshd"),
        ("udp", "0.0.0.0", 8472, ""),
    )
    with pytest.raises(NotSeen):
        sockets.listeners(MISSING)


LSBLK = {
    "blockdevices": [
        {
            "name": "nvme1n1",
            "kname": "nvme1n1",
            "path": "/dev/nvme1n1",
            "type": "disk",
            "size": "3840755982336",
            "fstype": None,
            "pttype": "gpt",
            "serial": "S64HNE0T100001     ",
            "model": "SAMSUNG MZQL23T8HCLS",
            "mountpoints": [None],
            "children": [
                {
                    "name": "nvme1n1p1",
                    "path": "/dev/nvme1n1p1",
                    "type": "part",
                    "size": 1,
                    "fstype": "linux_raid_member",
                    "mountpoints": [None],
                    "children": [
                        {
                            "name": "md0",
                            "path": "/dev/md0",
                            "type": "raid1",
                            "size": 1,
                            "mountpoints": ["/srv", "[SWAP]"],
                        }
                    ],
                }
            ],
        },
    ]
}


def test_a_drive_with_everything_on_it():
    path = "/dev/disk/by-id/nvme-x"
    disks = Disks(
        block_devices=said(json.dumps(LSBLK)),
        names={path: "/dev/nvme1n1", "/dev/disk/by-id/nvme-gone": "/dev/nvme9n1"},
        signatures={path: said('{"signatures": [{"device":"nvme1n1","offset":"0x200","type":"gpt"}]}')},
        volume_groups=said('{"report":[{"pv":[{"pv_name":"/dev/nvme1n1","vg_name":"vg-models"}]}],"log":[]}'),
    )
    found = drives.drives(disks, (path, "/dev/disk/by-id/nvme-gone"))
    assert found == {
        path: (
            "/dev/nvme1n1",
            3840755982336,
            "S64HNE0T100001",
            ("gpt", "linux_raid_member"),
            ("/srv", "[SWAP]"),
            "vg-models",
            (("gpt", "", ""),),
        )
    }


def test_drives_without_lvm_and_without_root():
    path = "/dev/disk/by-id/nvme-x"
    disks = Disks(
        block_devices=said(json.dumps(LSBLK)),
        names={path: "/dev/nvme1n1"},
        volume_groups=MISSING,
        signatures={path: said("", 1, "wipefs: error: /dev/nvme1n1: probing initialization failed: Permission denied")},
    )
    assert drives.drives(disks, (path,))[path].signatures == ("gpt", "linux_raid_member")
    with pytest.raises(NotSeen, match="lsblk"):
        drives.drives(Disks(block_devices=said("not JSON")), (path,))
