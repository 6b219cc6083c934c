"""All of site.yml for phase 1 on a booted guest: a look, a first run, a restart, the proof, and nothing left to do.

Then upgrade.yml: another driver on a node that is drained for it, with a power cut in the middle. NVIDIA's packages and
k3s are stand-ins; apt, dpkg and systemd are real.
"""

import json
import shutil
from dataclasses import replace

import pytest
import yaml
from proof import host

from rackwright.guests.ansible import Ansible
from rackwright.guests.stand_ins.lay import lay
from rackwright.site.catalog import Catalog

NAME = "gpu-01"
PLAYBOOK = "playbooks/site.yml"
FILES = "find /etc /usr/local /var/lib/rackwright -newer /run/before -not -path '*/.ansible*' 2>/dev/null | sort"
PACKAGES = "dpkg-query -W | md5sum; apt-mark showhold"
DRIVER_ALONE = "tests/provision/gpu_host.yml"
OLD, NEW = 580, 595
CATALOG = Catalog.load()
VERSIONS = {branch: CATALOG.drivers[branch].version for branch in (OLD, NEW)}
SHOWN = "nvidia-smi --query-gpu=driver_version,persistence_mode --format=csv,noheader"
LOADED = "/run/nvidia-stand-in/loaded"
BEFORE_DPKG = "TASK [nvidia_driver : Refuse a transaction that would do something else"  # said with its result
STOPS_IN_IT = (
    "for _ in $(seq 3000); do dpkg-query -W -f '${db:Status-Status} ${Package}\\n' | "
    "grep -qE '^(unpacked|half-\\w+) .*nvidia' && exit 0; done; exit 1"
)
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
def converged(looked_at, machines, play):
    """The first run, on a machine that is fresh and whose GPUs nouveau holds; and the boot that it found."""
    assert looked_at
    machines[NAME].ssh("modprobe nouveau")
    boot = machines[NAME].boot()
    return play().demand(), boot


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


def test_the_first_run_reboots_for_nouveau_which_is_not_there_again(converged, restarted, machines):
    ran, boot = converged
    assert "nouveau holds the GPUs" in ran.said
    assert machines[NAME].boot() != boot
    assert not restarted.file("/sys/module/nouveau").exists


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


def test_the_driver_shows_the_sites_gpus_and_its_fabric_after_a_restart(restarted):
    assert restarted.check_output(SHOWN).splitlines() == [f"{VERSIONS[OLD]}, Enabled"] * 8
    assert restarted.check_output("nvidia-smi -q").count("Completed") == 8
    assert restarted.check_output("modinfo -F version nvidia") == VERSIONS[OLD]
    assert restarted.service("nvidia-persistenced").is_running


def test_everything_of_it_is_of_one_version_and_held(restarted):
    wanted = {"nvidia-driver-cuda", "nvidia-kernel-open-dkms", "nvidia-fabricmanager", "libnvidia-ml1", "libcuda1"}
    held = set(restarted.check_output("apt-mark showhold").split())
    assert wanted | {"nvidia-container-toolkit"} <= held
    versions = restarted.check_output(f"dpkg-query -W -f '${{Version}}\\n' {' '.join(wanted)}").split()
    assert set(versions) == {f"{VERSIONS[OLD]}-1"}
    assert "0 upgraded" in restarted.check_output("apt-get -s full-upgrade")


def test_the_toolkit_lists_the_gpus_and_takes_wishes_from_privileged_containers_alone(restarted):
    assert "nvidia.com/gpu=7" in restarted.check_output("nvidia-ctk cdi list")
    units = "nvidia-cdi-refresh.path nvidia-cdi-refresh.service"
    assert restarted.check_output(f"systemctl is-enabled {units}").split() == ["enabled"] * 2
    settings = restarted.file("/etc/nvidia-container-runtime/config.toml").content_string
    assert "accept-nvidia-visible-devices-envvar-when-unprivileged = false" in settings
    toolkit = CATALOG.packages["nvidia-container-toolkit"]
    assert restarted.package("nvidia-container-toolkit").version.startswith(toolkit)


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


@pytest.fixture
def driver_alone(again, machines, told):
    """Runs the driver's part of provision.yml, which drains nobody, with a branch for the site's."""
    assert again
    return lambda branch: machines.ansible(DRIVER_ALONE, variables={**told, "branch": branch})


def test_another_version_in_the_catalog_is_refused_under_load(driver_alone, machines):
    ran = driver_alone(NEW)
    assert ran.code
    assert "playbooks/upgrade.yml" in ran.said
    assert ran.changed == {}
    assert machines[NAME].says(SHOWN).startswith(VERSIONS[OLD])


def test_a_node_in_service_is_not_rebooted(driver_alone, machines):
    """Somebody loaded another version by hand, and pods run here."""
    guest = machines[NAME]
    boot = guest.boot()
    guest.ssh(f"echo {VERSIONS[NEW]} >{LOADED}")
    assert guest.ssh("nvidia-smi", check=False).returncode == 18
    ran = driver_alone(OLD)
    guest.ssh(f"echo {VERSIONS[OLD]} >{LOADED}")
    assert ran.code
    assert "k3s runs here" in ran.said
    assert guest.boot() == boot


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
    return lambda run: run(runner, "playbooks/upgrade.yml", limit=[NAME], variables=given)


@pytest.fixture(scope="module")
def cut(machines, upgrade):
    """An upgrade whose power went in the middle of dpkg."""
    guest = machines[NAME]
    with upgrade(Ansible.start) as process:
        try:
            assert any(line.startswith(BEFORE_DPKG) for line in process.stdout)
            guest.ssh(STOPS_IN_IT)
            guest.power_cut()
        finally:
            process.kill()
    guest.power_on()


def node(guest):
    return json.loads(guest.says(f"k3s kubectl get node {NAME} --output=json"))


@pytest.mark.usefixtures("cut")
def test_an_upgrade_that_was_cut_off_in_dpkg_leaves_its_node_drained(machines):
    assert machines[NAME].says("dpkg --audit") != ""
    assert node(machines[NAME])["spec"]["unschedulable"]


@pytest.mark.usefixtures("cut")
def test_the_next_one_exchanges_all_of_its_driver_reboots_it_and_brings_it_back(machines, upgrade):
    guest = machines[NAME]
    boot = guest.boot()
    upgrade(Ansible.playbook).demand()
    assert guest.boot() != boot
    assert guest.says("dpkg --audit") == ""
    assert guest.says(SHOWN).splitlines() == [f"{VERSIONS[NEW]}, Enabled"] * 8
    assert guest.says("nvidia-smi -q").count("Completed") == 8
    left = guest.says("dpkg-query -W -f '${db:Status-Status} ${Package} ${Version}\\n'")
    assert not [line for line in left.splitlines() if line.startswith("installed") and f" {OLD}." in line]
    assert {"libnvidia-ml1", "nvidia-fabricmanager"} <= set(guest.says("apt-mark showhold").split())
    assert "unschedulable" not in node(guest)["spec"]
    assert "rackwright/drained-for" not in node(guest)["metadata"]["annotations"]
    boot = guest.boot()
    assert upgrade(Ansible.playbook).demand().changed == {}, "one that is there already is only proved"
    assert guest.boot() == boot
