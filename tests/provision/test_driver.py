"""A GPU host's driver and toolkit on a booted guest: the packages are stand-ins; apt, dpkg and systemd are real.

Looks, second runs and an upgrade are in test_site_playbook.py.
"""

from pathlib import PurePosixPath

import pytest
from bench import bench

from rackwright.guests.stand_ins.nvidia import repository
from rackwright.site.catalog import Catalog

PLAYBOOK = "tests/provision/gpu_host.yml"
H100 = {"product": "h100_sxm", "count": 8, "memory_gb": 80, "link": "nvswitch"}
OLD, NEW = 580, 595
CATALOG = Catalog.load()
VERSIONS = {branch: CATALOG.drivers[branch].version for branch in (OLD, NEW)}
UNPACKED = r"^(unpacked|half-\w+) .*nvidia"
STOPS_THERE = (
    "for _ in $(seq 3000); do dpkg-query -W -f '${db:Status-Status} ${Package}\\n' | "
    f"grep -qE '{UNPACKED}' && exit 0; done; exit 1"
)
HELD = "apt-mark showhold"


@pytest.fixture(scope="module")
def machines(rack, tmp_path_factory):
    machines = rack(bench(tmp_path_factory.mktemp("site") / "gpu", gpus=H100), "ws-01")
    folder = tmp_path_factory.mktemp("repositories")
    guest, host = machines["ws-01"], machines.hosts[0]
    repository.write_repositories(folder, CATALOG, [guest.says("uname -r")])
    guest.put(folder, repository.PLACE)
    for file, text in ((repository.SOURCES, repository.sources()), (repository.MACHINE, repository.machine(host))):
        guest.ssh(f"mkdir -p {PurePosixPath(file).parent} && cat >{file}", text=text)
    return machines


@pytest.fixture(scope="module")
def guest(machines):
    return machines["ws-01"]


@pytest.fixture(scope="module")
def play(machines):
    return lambda branch=OLD: machines.ansible(PLAYBOOK, variables={"branch": branch})


@pytest.fixture(scope="module")
def converged(machines, guest, play):
    """Provisioned after a power cut in the middle of dpkg, on a host where nouveau held the GPUs."""
    with machines.runner.start(PLAYBOOK, variables={"branch": OLD}) as process:
        try:
            guest.ssh(STOPS_THERE)
            guest.power_cut()
        finally:
            process.kill()
    guest.power_on()
    guest.ssh("modprobe nouveau")
    boot = guest.boot()
    return play().demand(), boot


def test_it_converges_after_a_power_cut_and_reboots_for_nouveau_alone(converged, guest):
    ran, boot = converged
    assert "nouveau holds the GPUs" in ran.said
    assert guest.boot() != boot
    assert guest.says("dpkg --audit") == ""
    assert guest.says("ls -d /sys/module/nouveau 2>/dev/null; true") == ""


@pytest.mark.usefixtures("converged")
def test_the_driver_shows_the_sites_gpus_and_its_fabric(guest):
    rows = guest.says("nvidia-smi --query-gpu=driver_version,persistence_mode --format=csv,noheader").splitlines()
    assert rows == [f"{VERSIONS[OLD]}, Enabled"] * 8
    assert guest.says("nvidia-smi -q").count("Completed") == 8
    assert guest.says("modinfo -F version nvidia") == VERSIONS[OLD]


@pytest.mark.usefixtures("converged")
def test_everything_of_it_is_of_one_version_and_held(guest):
    held = set(guest.says(HELD).split())
    wanted = {"nvidia-driver-cuda", "nvidia-kernel-open-dkms", "nvidia-fabricmanager", "libnvidia-ml1", "libcuda1"}
    assert wanted <= held
    versions = guest.says(f"dpkg-query -W -f '${{Version}}\\n' {' '.join(wanted)}").split()
    assert set(versions) == {f"{VERSIONS[OLD]}-1"}
    assert "0 upgraded" in guest.says("apt-get -s full-upgrade")


@pytest.mark.usefixtures("converged")
def test_the_toolkit_lists_the_gpus_and_takes_wishes_from_privileged_containers_alone(guest):
    assert "nvidia.com/gpu=7" in guest.says("nvidia-ctk cdi list")
    assert (
        guest.says("systemctl is-enabled nvidia-cdi-refresh.path nvidia-cdi-refresh.service").split() == ["enabled"] * 2
    )
    settings = guest.says("cat /etc/nvidia-container-runtime/config.toml")
    assert "accept-nvidia-visible-devices-envvar-when-unprivileged = false" in settings
    toolkit = CATALOG.packages["nvidia-container-toolkit"]
    assert guest.says("dpkg-query -W -f '${Version}' nvidia-container-toolkit") == f"{toolkit}-1"


@pytest.mark.usefixtures("converged")
def test_another_version_in_the_catalog_is_refused_under_load(guest, play):
    ran = play(branch=NEW)
    assert ran.code
    assert "playbooks/upgrade.yml" in ran.said
    assert ran.changed == {}
    assert guest.says("nvidia-smi --query-gpu=driver_version --format=csv,noheader").split()[0] == VERSIONS[OLD]


@pytest.mark.usefixtures("converged")
def test_a_node_in_service_is_not_rebooted(guest, play):
    """Somebody loaded another version by hand, and pods run here."""
    guest.ssh(f"echo {VERSIONS[NEW]} >/run/nvidia-stand-in/loaded")
    assert guest.ssh("nvidia-smi", check=False).returncode == 18
    unit = "[Service]\nExecStart=/bin/sleep infinity\n"
    guest.ssh("cat >/run/systemd/system/kubelet.service; systemctl daemon-reload; systemctl start kubelet", text=unit)
    boot = guest.boot()
    ran = play()
    assert ran.code
    assert "kubelet runs here" in ran.said
    assert guest.boot() == boot
