"""All of site.yml for phase 1 on a booted guest: a look, a first run, a restart, the proof, and nothing left to do.

Then upgrade.yml: another driver on a node that is drained for it.
"""

import json
import shutil
from dataclasses import replace

import pytest
import yaml
from proof import host

from rackwright.guests.stand_ins.lay import lay
from rackwright.site.catalog import Catalog

NAME = "gpu-01"
PLAYBOOK = "playbooks/site.yml"
FILES = "find /etc /usr/local /var/lib/rackwright -newer /run/before -not -path '*/.ansible*' 2>/dev/null | sort"
PACKAGES = "dpkg-query -W | md5sum; apt-mark showhold"
OLD, NEW = 580, 595
VERSIONS = {branch: Catalog.load().drivers[branch].version for branch in (OLD, NEW)}
SHOWN = "nvidia-smi --query-gpu=driver_version,persistence_mode --format=csv,noheader"
PURPOSES = ("models", "vectors", "database", "scratch")


@pytest.fixture(scope="module")
def machines(rack):
    return rack("lab", NAME, memory_mib=3072)


@pytest.fixture(scope="module")
def told(machines):
    """What every playbook is told besides its site."""
    return {"phase": 1, **lay(machines, 1).variables}


@pytest.fixture(scope="module")
def play(machines, told):
    return lambda *options: machines.ansible(PLAYBOOK, *options, variables=told)


@pytest.fixture(scope="module")
def looked_at(machines, play):
    """What a look at a fresh machine said, and what it left."""
    guest = machines[NAME]
    guest.ssh("touch /run/before")
    before = guest.says(PACKAGES)
    return play("--check", "--diff"), guest.says(FILES), guest.says(PACKAGES) == before


@pytest.fixture(scope="module")
def converged(looked_at, play):
    assert looked_at  # the look is at a machine that is fresh
    return play().demand()


@pytest.fixture(scope="module")
def restarted(converged, machines):
    assert converged
    machines[NAME].reboot()
    return host(machines[NAME])


@pytest.fixture(scope="module")
def again(restarted, machines, play):
    """The second run, and the boot that it found."""
    assert restarted
    boot = machines[NAME].boot()
    return play().demand(), boot


def test_a_look_at_a_fresh_machine_changes_nothing(looked_at):
    ran, left, packages_are_the_same = looked_at
    ran.demand()
    assert left == ""
    assert packages_are_the_same


def test_names_and_network_are_the_sites_after_a_restart(restarted):
    assert restarted.check_output("hostname") == NAME
    bond = restarted.interface("bond0")
    assert "10.30.0.11" in bond.addresses
    assert restarted.file("/sys/class/net/bond0/mtu").content_string.strip() == "9000"
    assert {"node0", "node1"} <= set(restarted.file("/sys/class/net/bond0/bonding/slaves").content_string.split())
    assert "10.30.1.11" in restarted.interface("fabric0").addresses
    assert restarted.run("ping -c 1 -M do -s 8972 10.30.0.1").succeeded


def test_drives_hold_what_the_site_says_after_a_restart(restarted):
    groups = restarted.check_output("vgs --noheadings --options vg_name").split()
    assert len(groups) == len(PURPOSES)
    assert all(any(purpose in group for group in groups) for purpose in PURPOSES)


def test_the_driver_is_there_and_held_after_a_restart(restarted):
    held = restarted.check_output("apt-mark showhold").split()
    assert any(package.startswith("nvidia-fabricmanager") for package in held)
    assert "nvidia-container-toolkit" in held
    assert restarted.check_output(SHOWN).splitlines() == [f"{VERSIONS[OLD]}, Enabled"] * 8
    assert restarted.service("nvidia-persistenced").is_running


def test_the_machine_is_a_nodes_after_a_restart(restarted):
    assert restarted.service("k3s").is_running
    assert restarted.service("k3s").is_enabled
    assert restarted.check_output("swapon --noheadings --show") == ""
    assert restarted.sysctl("vm.overcommit_memory") == 1
    assert restarted.service("chrony").is_running


def test_a_second_run_changes_nothing(again, machines):
    ran, boot = again
    assert ran.changed == {}
    assert ran.stats[NAME]["changed"] == 0
    assert machines[NAME].boot() == boot


def test_a_look_at_a_converged_machine_finds_nothing_to_change(again, play):
    assert again
    looked = play("--check", "--diff").demand()
    assert looked.changed == {}


@pytest.fixture(scope="module")
def upgrade(again, machines, told, tmp_path_factory):
    """Runs upgrade.yml with the site in which somebody has written another driver."""
    assert again
    folder = tmp_path_factory.mktemp("newer") / "lab"
    shutil.copytree(machines.runner.site, folder)
    site = yaml.safe_load((folder / "site.yml").read_text())
    site["gpu"]["driver_branch"] = NEW
    (folder / "site.yml").write_text(yaml.safe_dump(site, sort_keys=False))
    runner = replace(machines.runner, site=folder)
    given = {**told, "upgrade": "driver", "confirm": "lab"}
    return lambda: runner.playbook("playbooks/upgrade.yml", limit=[NAME], variables=given).demand()


def test_an_upgrade_drains_the_node_exchanges_all_of_its_driver_reboots_it_and_brings_it_back(machines, upgrade):
    guest = machines[NAME]
    boot = guest.boot()
    upgrade()
    assert guest.boot() != boot
    assert guest.says(SHOWN).splitlines() == [f"{VERSIONS[NEW]}, Enabled"] * 8
    assert guest.says("nvidia-smi -q").count("Completed") == 8
    left = guest.says("dpkg-query -W -f '${db:Status-Status} ${Package} ${Version}\\n'")
    assert not [line for line in left.splitlines() if line.startswith("installed") and f" {OLD}." in line]
    assert {"libnvidia-ml1", "nvidia-fabricmanager"} <= set(guest.says("apt-mark showhold").split())
    node = json.loads(guest.says(f"k3s kubectl get node {NAME} --output=json"))
    assert "unschedulable" not in node["spec"]
    assert "rackwright/drained-for" not in node["metadata"]["annotations"]
    boot = guest.boot()
    assert upgrade().changed == {}, "one that is there already is only proved"
    assert guest.boot() == boot
