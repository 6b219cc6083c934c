"""All of site.yml for phase 1 on a booted guest: a look, a first run, a restart, the proof, and nothing left to do."""

import pytest
from proof import host

from rackwright.guests.stand_ins.lay import lay
from rackwright.site.catalog import Catalog

NAME = "gpu-01"
PLAYBOOK = "playbooks/site.yml"
STATE = "find /etc /usr/local /var/lib/rackwright -newer /run/before -not -path '*/.ansible*' 2>/dev/null | sort"
DRIVER = Catalog.load().drivers[580].version
PURPOSES = ("models", "vectors", "database", "scratch")


@pytest.fixture(scope="module")
def machines(rack):
    return rack("lab", NAME, memory_mib=3072)


@pytest.fixture(scope="module")
def play(machines):
    laid = lay(machines, 1)

    def run(*options):
        return machines.ansible(PLAYBOOK, *options, variables={"phase": 1, **laid.variables})

    return run


@pytest.fixture(scope="module")
def looked_at(machines, play):
    """What a look at a fresh machine said, and what it left."""
    guest = machines[NAME]
    guest.ssh("touch /run/before")
    return play("--check", "--diff"), guest.says(STATE)


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
def again(restarted, play):
    assert restarted
    return play().demand()


def test_a_look_at_a_fresh_machine_changes_nothing(looked_at):
    ran, left = looked_at
    ran.demand()
    assert left == ""


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
    assert restarted.check_output("nvidia-smi --query-gpu=driver_version --format=csv,noheader").split() == [DRIVER] * 8
    assert restarted.service("nvidia-persistenced").is_running


def test_the_machine_is_a_nodes_after_a_restart(restarted):
    assert restarted.service("k3s").is_running
    assert restarted.service("k3s").is_enabled
    assert restarted.check_output("swapon --noheadings --show") == ""
    assert restarted.sysctl("vm.overcommit_memory") == 1
    assert restarted.service("chrony").is_running


def test_a_second_run_changes_nothing(again):
    assert again.changed == {}
    assert again.stats[NAME]["changed"] == 0


def test_a_look_at_a_converged_machine_finds_nothing_to_change(again, play):
    assert again
    looked = play("--check", "--diff").demand()
    assert looked.changed == {}
