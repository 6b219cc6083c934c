"""What a host for agents' tools is told."""

from pathlib import Path

from rackwright.metal.agents import differing, kubelet, settings
from rackwright.metal.kubeadm import kubelet_of
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]
HOST = next(host for host in Site.load(ROOT / "inventory" / "lab").hosts if host.name == "agents-01")


def test_the_system_keeps_what_pods_are_not_given():
    assert settings(HOST)["system_memory_mib"] > 1024


def test_sandboxes_of_root_keep_their_namespaces():
    names = settings(HOST)["sysctls"].keys() | settings(HOST)["sysctls_where_known"].keys()
    assert "user.max_user_namespaces" not in names
    assert "kernel.unprivileged_userns_clone" in names


def test_a_setting_that_the_kernel_does_not_know_is_no_difference():
    shown = "kernel.dmesg_restrict = 0\nkernel.core_pattern = |/bin/false\n"
    wanted = {"kernel.dmesg_restrict": "1", "kernel.core_pattern": "|/bin/false", "kernel.io_uring_disabled": "1"}
    assert differing(wanted, shown) == ["kernel.dmesg_restrict = 0"]


def test_a_tool_that_forks_without_end_ends_itself():
    assert 1024 <= kubelet()["podPidsLimit"] <= 16384
    assert kubelet_of(HOST)["podPidsLimit"] == kubelet()["podPidsLimit"]
