"""A host's block of the site file as a guest's hardware."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from rackwright.guests import hardware, places
from rackwright.guests.cabling import cabling, node_ports
from rackwright.guests.hardware import Size
from rackwright.guests.seed import Keys, appended, archive, files
from rackwright.site.hosts import Host
from rackwright.site.operating_system import OperatingSystem
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]
KEYS = Keys("ssh-ed25519 AAAA ours\n", "private\n", "ssh-ed25519 AAAA its\n")


@pytest.fixture(scope="module", params=["example", "lab", "workstation"])
def site(request):
    return Site.load(ROOT / "inventory" / request.param)


@pytest.fixture(scope="module")
def lab():
    return Site.load(ROOT / "inventory" / "lab")


def of(site, name):
    return next(host for host in site.hosts if host.name == name)


def arguments(site, host):
    sockets = cabling(site, site.hosts).sockets
    return hardware.arguments(site.name, host, Size(), sockets, Path("/f,older"), Path("/f,older/system"), "tcg")


def devices(site, host):
    given = arguments(site, host)
    return [value for option, value in pairwise(given) if option == "-device"]


def test_every_host_of_every_sample_has_its_ports_and_drives(site):
    for host in site.hosts:
        found = devices(site, host)
        assert sum(each.startswith("virtio-net-pci") for each in found) == len(host.nics)
        assert sum(each.startswith("nvme,") for each in found) == len(host.disks)


def test_no_two_devices_share_a_place(site):
    for host in site.hosts:
        found = [re.search(r"bus=[^,]+,addr=[^,]+", each)[0] for each in devices(site, host)]
        assert len(found) == len(set(found))


def test_a_port_is_at_its_very_place_on_the_bus(lab):
    found = devices(lab, of(lab, "gpu-01"))
    assert "pxb-pcie,id=root41,bus_nr=64,bus=pcie.0,addr=03.0" in found
    assert "pcie-root-port,id=bus41,chassis=1,slot=0,bus=root41,addr=00.0" in found
    ports = [each for each in found if each.startswith("virtio-net-pci")]
    assert [each.partition("romfile=,")[2] for each in ports] == [
        "bus=bus41,addr=00.0,multifunction=on", "bus=bus41,addr=00.1,multifunction=on",
        "bus=bus5e,addr=00.0,multifunction=on",
    ]  # fmt: skip
    assert "speed=25000,duplex=full" in ports[0]


def test_buses_that_follow_each_other_hang_on_one_root():
    made = places.bridges([1, 2, 0x41, 0x42, 0x44], places.free())
    assert [each.partition(",bus=")[2].partition(",")[0] for each in made if "root-port" in each] == [
        "pcie.0", "pcie.0", "root41", "root41", "root44",
    ]  # fmt: skip


def test_a_port_without_function_0_is_still_looked_for(lab):
    block = of(lab, "agents-01").model_dump(mode="json")
    block["nics"] = block["nics"][1:]
    block["bonds"] = []
    host = Host.model_validate(block)
    assert "virtio-rng-pci,bus=bus41,addr=00.0,multifunction=on" in devices(lab, host)


def test_a_port_goes_by_its_mac():
    site = Site.load(ROOT / "inventory" / "example")
    host = of(site, "hgx-01")
    assert hardware.mac(site.name, host, host.nics[0]) == "b8:3f:d2:00:01:10"
    assert any("mac=b8:3f:d2:00:01:10" in each for each in devices(site, host))


def test_addresses_that_the_site_does_not_give_are_all_different(lab):
    found = [hardware.mac(lab.name, host, nic) for host in lab.hosts for nic in host.nics]
    assert len(found) == len(set(found))
    assert all(each.startswith("52:54:00:") for each in found)


def test_a_drive_says_the_serial_number_in_its_name_and_has_its_size(lab):
    drive = hardware.drives(of(lab, "gpu-01"))[0]
    assert (drive.serial, drive.gigabytes, drive.holds_system) == ("S6CKNT0W000101", 7680, False)
    (rules,) = hardware.device_rules(lab.name, of(lab, "gpu-01")).values()
    assert (
        'ATTRS{serial}=="S6CKNT0W000101", ENV{DEVTYPE}=="disk", '
        'SYMLINK+="disk/by-id/nvme-SAMSUNG_MZQL27T6HBLA_S6CKNT0W000101"' in rules
    )


@pytest.mark.parametrize("name", ["nvme-eui.0025384151b0e1a2", "nvme-A_" + "LONG" * 8, "nvme-uuid.12-34", "wwn-0x5"])
def test_a_name_without_a_fitting_serial_number_gets_one_that_fits(lab, name):
    block = of(lab, "agents-01").model_dump(mode="json")
    block["disks"][0]["path"] = f"/dev/disk/by-id/{name}"
    (drive,) = hardware.drives(Host.model_validate(block))
    assert re.fullmatch(r"[A-Z0-9]{20}", drive.serial)
    assert (
        f'SYMLINK+="disk/by-id/{name}"' in hardware.device_rules("lab", Host.model_validate(block))["61-drives.rules"]
    )


def test_the_system_is_on_the_drive_that_is_for_it(lab):
    given = " ".join(arguments(lab, of(lab, "control-01")))
    assert "virtio-blk" not in given
    assert "file=/f,,older/system,id=drive0" in given


def test_a_place_that_a_guest_cannot_have_is_told_and_named_all_the_same(lab):
    block = of(lab, "agents-01").model_dump(mode="json")
    block["nics"][0]["path"] = "pci-0001:41:02.0"
    host = Host.model_validate(block)
    rules = hardware.device_rules(lab.name, host)["80-net-setup-link.rules"]
    assert (
        f'ATTR{{address}}=="{hardware.mac(lab.name, host, host.nics[0])}", ENV{{ID_PATH}}="pci-0001:41:02.0"' in rules
    )
    told = hardware.cannot_have(host, OperatingSystem(name="debian", release="13"), Size())
    assert "node0 is not at pci-0001:41:02.0 on the bus; udev says so all the same." in told


def test_what_a_guest_cannot_have_is_told(lab):
    told = "\n".join(hardware.cannot_have(of(lab, "gpu-01"), lab.operating_system, Size()))
    for part in (
        "No GPU: 8 h100_sxm (nvswitch)",
        "No RDMA",
        "the site says ubuntu 24.04",
        "2 GiB of memory and 1 of the processors, not 1024 GiB and 128",
    ):
        assert part in told
    plain = hardware.cannot_have(of(lab, "control-01"), OperatingSystem(name="debian", release="13"), Size())
    assert [line for line in plain if line.startswith("No ")] == []


class TestCabling:
    def test_ports_are_in_the_networks_of_their_carriers(self, lab):
        found = {port.name: port for port in cabling(lab, lab.hosts).ports}
        assert (found["gpu-01/node0"].untagged, found["gpu-01/node0"].bond) == ("nodes", "gpu-01/bond0")
        assert (found["gpu-01/fabric0"].untagged, found["gpu-01/fabric0"].bond) == ("storage", None)

    def test_every_port_has_a_socket_of_its_own(self, lab):
        numbers = cabling(lab, lab.hosts).sockets.values()
        assert len(set(numbers)) == len(list(numbers)) == sum(len(host.nics) for host in lab.hosts)

    def test_a_tagged_network_goes_over_every_port_of_its_bond(self, lab):
        block = of(lab, "agents-01").model_dump(mode="json")
        block["vlans"] = [{"id": 120, "over": "bond0", "network": "storage"}]
        ports = cabling(lab, [Host.model_validate(block)]).ports
        assert [port.tagged for port in ports] == [{120: "storage"}, {120: "storage"}]

    def test_this_machine_is_the_gateway_and_every_server_outside(self, lab):
        nodes, storage = cabling(lab, lab.hosts).taps
        assert (str(nodes.address), [str(each) for each in nodes.others]) == (
            "10.30.0.1/24", ["10.30.0.2", "10.30.0.3"],
        )  # fmt: skip
        assert str(storage.address) == "10.30.1.254/24"

    def test_a_host_that_is_a_name_server_keeps_its_address(self):
        site = Site.load(ROOT / "inventory" / "lab")
        networks = site.networks.model_copy(update={"name_servers": (site.hosts[0].address,)})
        nodes, _ = cabling(site.model_copy(update={"networks": networks}), site.hosts).taps
        assert site.hosts[0].address not in (nodes.address.ip, *nodes.others)


class TestSeed:
    def test_an_installer_gives_the_address_to_the_first_port_and_makes_no_bond(self, lab):
        host = of(lab, "gpu-01")
        found = files(lab, host, KEYS, "one")
        network = found["etc/systemd/network/10-installer.network"]
        assert f"PermanentMACAddress={hardware.mac('lab', host, host.nics[0])}" in network
        assert "Address=10.30.0.11/24\nGateway=10.30.0.1\nDNS=10.30.0.2\nDNS=10.30.0.3\n" in network
        assert found["etc/hostname"] == "gpu-01\n"
        assert not any("bond" in text for text in found.values())

    def test_a_node_network_behind_a_tag_is_reached_through_the_tag(self, lab):
        block = of(lab, "agents-01").model_dump(mode="json")
        block["bonds"][0]["network"] = None
        block["vlans"] = [{"id": 30, "over": "bond0", "network": "nodes"}]
        host = Host.model_validate(block)
        assert node_ports(host) == (["node0", "node1"], 30)
        found = files(lab, host, KEYS, "one")
        assert "Id=30" in found["etc/systemd/network/11-installer.netdev"]
        assert "Address=10.30.0.31/24" in found["etc/systemd/network/12-installer.network"]

    def test_two_guests_and_two_racks_have_machine_ids_of_their_own(self, lab):
        names = ((host, rack) for host in lab.hosts for rack in ("one", "two"))
        found = {files(lab, host, KEYS, rack)["etc/machine-id"] for host, rack in names}
        assert len(found) == 2 * len(lab.hosts)

    def test_keys_are_for_root_alone(self):
        import io  # noqa: PLC0415
        import tarfile  # noqa: PLC0415

        with tarfile.open(fileobj=io.BytesIO(archive({"root/.ssh/authorized_keys": "k", "etc/hostname": "n"}))) as tar:
            modes = {member.name: (member.mode, member.uid) for member in tar}
        assert modes == {"root/.ssh": (0o700, 0), "root/.ssh/authorized_keys": (0o600, 0), "etc/hostname": (0o644, 0)}

    @pytest.mark.parametrize("length", [1024, 1025, 1026, 1027])
    def test_the_kernel_finds_it_behind_its_own_archive(self, length):
        """The kernel passes over zeros, and takes an archive only where its place can be divided by four."""
        found = appended(b"k" * length, {"etc/hostname": "n\n"})
        place = found.index(b"070701")
        assert place % 4 == 0
        assert found[length:place] == bytes(place - length)
        assert b"TRAILER!!!" in found
