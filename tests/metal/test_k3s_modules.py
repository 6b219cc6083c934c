"""The role's own modules, as far as they can be tried without a machine."""

import importlib.util
import os
import subprocess
import time
from pathlib import Path

import pytest

LIBRARY = Path(__file__).resolve().parents[2] / "playbooks" / "roles" / "k3s" / "library"


def module(name):
    spec = importlib.util.spec_from_file_location(name, LIBRARY / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


look, clean = module("k3s_look"), module("k3s_clean")


@pytest.fixture
def program(tmp_path):
    file = tmp_path / "k3s"
    file.write_text("#!/bin/sh\necho 'k3s version v1.36.1+k3s1 (ac705709)'\n")
    file.chmod(0o755)
    return file


def looked(tmp_path, program, **changed):
    wished = {
        "program": str(program),
        "unit": "rackwright-no-such-unit",
        "state": str(tmp_path / "db"),
        "token_file": str(tmp_path / "token"),
        "token": "ours",
        "files": [],
        "sysctls": {},
        "needs": [],
    }
    return look._look(wished | changed)


def test_a_fresh_machine(tmp_path):
    found = looked(tmp_path, tmp_path / "none", needs=["/", str(tmp_path / "port")])
    assert found["installed"] == ""
    assert not found["has_begun"]
    assert not found["token_is_another"]
    assert not found["has_unit"]
    assert found["missing"] == [str(tmp_path / "port")]


def test_the_version_is_the_programs(tmp_path, program):
    assert looked(tmp_path, program)["installed"] == "v1.36.1+k3s1"


def test_what_a_power_cut_left_empty_is_no_program(tmp_path, program):
    program.write_bytes(b"")
    assert looked(tmp_path, program)["installed"] == ""


def test_silence_is_not_taken_for_a_version(tmp_path, program, monkeypatch):
    def silent(command, **_):
        raise subprocess.TimeoutExpired(command, look.SECONDS)

    monkeypatch.setattr(look.subprocess, "run", silent)
    with pytest.raises(subprocess.TimeoutExpired):
        looked(tmp_path, program)


@pytest.mark.parametrize(
    ("there", "another"),
    [("K10abc::server:ours\n", False), ("ours", False), ("K10abc::server:theirs\n", True), ("", False)],
)
def test_a_token_is_compared_by_what_is_secret_in_it(tmp_path, program, there, another):
    (tmp_path / "token").write_text(there)
    assert looked(tmp_path, program)["token_is_another"] is another


def test_a_setting_of_the_kernel_that_differs_is_seen(tmp_path, program):
    there = Path("/proc/sys/kernel/pid_max").read_text().strip()
    assert not looked(tmp_path, program, sysctls={"kernel.pid_max": there})["kernel_differs"]
    assert looked(tmp_path, program, sysctls={"kernel.pid_max": int(there) + 1})["kernel_differs"]


def test_a_file_that_is_newer_than_the_process_was_not_told(tmp_path):
    files = {name: tmp_path / name for name in ("before", "after")}
    began, now = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000, time.time()
    for file, when in zip(files.values(), (now - 1, now + 1), strict=True):
        file.write_text("")
        os.utime(file, (when, when))
    names = [str(file) for file in (*files.values(), tmp_path / "none")]
    shown = f"LoadState=loaded\nActiveState=active\nExecMainStartTimestampMonotonic={began}\n"
    assert look._untold(names, shown) == [str(files["after"])]
    assert look._untold(names, "ExecMainStartTimestampMonotonic=0\n") == []


@pytest.mark.parametrize(
    ("state", "active"), [("active", True), ("activating", True), ("failed", False), ("inactive", False)]
)
def test_a_unit_that_is_about_to_run_runs(state, active):
    assert bool(look.ACTIVE.search(f"LoadState=loaded\nActiveState={state}\n")) is active


RULES = """\
*nat
:PREROUTING ACCEPT [0:0]
:KUBE-SERVICES - [0:0]
:DOCKER - [0:0]
-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A PREROUTING -j DOCKER
-A POSTROUTING -m comment --comment "CNI-HOSTPORT-MASQ" -j CNI-HOSTPORT-MASQ
-A OUTPUT -p tcp --dport 22 -j ACCEPT
COMMIT
""".splitlines()


def test_only_rules_of_the_cluster_go():
    left = clean._without(RULES, ["KUBE-", "CNI-", "FLANNEL-"])
    assert left == [rule for rule in RULES if "KUBE-" not in rule and "CNI-" not in rule]
    assert clean._without(left, ["KUBE-", "CNI-", "FLANNEL-"]) == left


def test_a_folder_with_a_mount_in_it_is_left_alone(tmp_path, monkeypatch):
    volume = tmp_path / "kubelet" / "pods" / "volume"
    volume.mkdir(parents=True)
    (volume / "data").write_text("dear")
    monkeypatch.setattr(clean, "_mounted", lambda: ["/", str(volume)])
    with pytest.raises(clean.StillMountedError, match="still mounted"):
        clean._remove(tmp_path / "kubelet")
    assert (volume / "data").read_text() == "dear"
    monkeypatch.setattr(clean, "_mounted", lambda: ["/"])
    clean._remove(tmp_path / "kubelet")
    assert not (tmp_path / "kubelet").exists()


def test_a_place_of_the_nodes_state_is_emptied_and_stays_mounted(tmp_path, monkeypatch):
    place = tmp_path / "kubelet"
    (place / "pods").mkdir(parents=True)
    (place / "config").write_text("")
    monkeypatch.setattr(clean, "_mounted", lambda: ["/", str(place)])
    wished = {"groups": [], "mounts": [], "links": [], "chains": [], "paths": [str(place)]}
    ((what, act),) = clean._steps(wished)
    act()
    assert what == f"remove {place}"
    assert list(place.iterdir()) == []
    assert list(clean._steps(wished)) == []


def test_mounts_go_in_the_order_in_which_they_can(tmp_path, monkeypatch):
    monkeypatch.setattr(clean, "_mounted", lambda: ["/", "/run/k3s/a", "/home", "/run/k3s/a/b", "/run/netns/cni-1"])
    (tmp_path / "k3s-v1").write_text("")
    wished = {
        "groups": [str(tmp_path)],
        "mounts": ["/run/k3s", "/run/netns/cni-"],
        "links": ["rackwright-none"],
        "chains": [],
        "paths": [str(tmp_path / "k3s-v*"), str(tmp_path / "none")],
    }
    monkeypatch.setattr(clean.shutil, "which", lambda _: None)
    assert [what for what, _ in clean._steps(wished)] == [
        "unmount /run/netns/cni-1",
        "unmount /run/k3s/a/b",
        "unmount /run/k3s/a",
        f"remove {tmp_path / 'k3s-v1'}",
    ]


def test_a_control_group_without_processes_is_left(tmp_path):
    (tmp_path / "cgroup.kill").write_text("")
    (tmp_path / "cgroup.events").write_text("populated 0\nfrozen 0\n")
    assert not clean._is_populated(tmp_path)
    (tmp_path / "cgroup.events").write_text("populated 1\nfrozen 0\n")
    assert clean._is_populated(tmp_path)
