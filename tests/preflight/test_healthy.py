"""Machines that are as their site says: nothing is to be said of them."""

import json

import pytest
from broken_machines import drive, without_package
from fleet import BENCH, TOKEN, answers_of, look, site_of

from rackwright.errors import Refusal
from rackwright.preflight import Weight, verdict
from rackwright.site.catalog import Catalog


@pytest.mark.parametrize("host", ["gpu-01", "ws-01"])
def test_nothing_is_said_of_machines_in_order(host):
    assert look({host: lambda _: None}) == ()


def test_the_verdict_goes_on_and_says_what_was_measured():
    found = verdict(site_of("gpu-01"), 2, Catalog.load(), {name: answers_of(name) for name in BENCH}, {})
    assert found.succeeded
    assert "by fio, in /var/lib/etcd" in found.text()
    assert found.text().endswith("5 hosts asked, no fault; nothing forbids going on.")
    assert [host["name"] for host in found.as_json()["hosts"]] == [
        "gpu-01",
        "gpu-02",
        "gpu-03",
        "agents-01",
        "control-01",
    ]


def test_a_host_that_was_not_asked_is_not_judged():
    found = verdict(site_of("gpu-01"), 2, Catalog.load(), {"gpu-01": answers_of("gpu-01")}, {})
    assert found.hosts == ("gpu-01",)
    assert found.succeeded


def test_hosts_that_could_not_be_asked_forbid_and_the_others_are_judged():
    answers = {"gpu-01": answers_of("gpu-01")}
    failures = {
        "gpu-02": "Failed to connect to the host via ssh: connect to host 10.30.0.12 port 22: No route to host",
        "gpu-03": "Incorrect sudo password",
        "agents-01": "Host key verification failed.",
        "control-01": "The module interpreter '/usr/bin/python3' was not found.",
    }
    found = verdict(site_of("gpu-01"), 2, Catalog.load(), answers, failures)
    assert found.forbidden == ("gpu-02", "gpu-03", "agents-01", "control-01")
    cures = {each.host: each.cure for each in found.findings}
    assert "power" in cures["gpu-02"]
    assert "--ask-become-pass" in cures["gpu-03"]
    assert "known_hosts" in cures["agents-01"]
    assert "python3" in cures["control-01"]
    assert {host["name"]: host["goes_on"] for host in found.as_json()["hosts"]}["gpu-01"]


def test_a_machines_words_do_not_steer_the_terminal():
    answers = answers_of("gpu-01")
    answers["system"]["name"] = "\x1b[2Jevil"
    text = verdict(site_of("gpu-01"), 2, Catalog.load(), {"gpu-01": answers}, {}).text()
    assert "\x1b" not in text
    assert "calls itself ?[2Jevil" in text


def test_a_phase_without_hosts_is_refused():
    with pytest.raises(Refusal, match="No host of phase 2"):
        verdict(site_of("ws-01"), 2, Catalog.load(), {}, {}, {"k3s_token": TOKEN})


def test_a_token_is_never_in_what_is_said():
    found = look({"ws-01": lambda answers: answers["leftovers"].update(token_digest="f" * 64)})
    assert found
    assert TOKEN not in str(found)
    assert "f" * 64 not in str(found)


def as_delivered(answers):
    """An HGX server with a fresh Ubuntu: no driver, no bond, no jumbo frames, empty drives, swap, nouveau."""
    answers["gpus"] |= {"driver_version": None, "module": {"code": 1, "out": "", "error": "modinfo: ERROR: not found"}}
    answers["system"]["modules"] = ["nouveau", "mlx5_core", "nvme", "ext4"]
    answers["swap"] |= {
        "swaps": answers["swap"]["swaps"] + "/swap.img file 8388604 0 -2\n",
        "fstab": answers["swap"]["fstab"].replace("#/swap.img", "/swap.img"),
    }
    network = answers["network"]
    links = [
        each for each in json.loads(network["links"]["out"]) if each["ifname"] in {"lo", "node0", "node1", "fabric0"}
    ]
    for each in links[1:]:
        each |= {"ifname": NAMES[each["ifname"]], "mtu": 1500, "address": each.pop("permaddr", each["address"])}
        each.pop("master", None)
    network["links"]["out"] = json.dumps(links)
    network["ports"] = {NAMES[name]: port for name, port in network["ports"].items()}
    addressed = [{"ifname": NAMES["node0"], "addr_info": [{"family": "inet", "local": "10.30.0.11", "prefixlen": 24}]}]
    network["addresses"]["out"] = json.dumps(addressed)
    network |= {
        "rdma": [],
        "listening": {"code": 0, "out": 'tcp LISTEN 0 128 0.0.0.0:22 0.0.0.0:* users:(("sshd",pid=1,fd=3))\n'},
    }
    for ping in answers["paths"]["pings"]:
        if ping["network"] == "storage" or ping["bytes"] == 9000:
            ping |= {
                "code": 1,
                "out": "ping: local error: message too long, mtu=1500\n" if ping["bytes"] == 9000 else "",
            }
    for door in answers["paths"]["doors"]:
        door["answer"] = "refused"
    for device in ("/dev/nvme1n1", "/dev/nvme2n1", "/dev/nvme3n1", "/dev/nvme4n1"):
        drive(device, fstype=None, children=[])(answers)
    answers["disks"]["signatures"] = {path: {"code": 0, "out": ""} for path in answers["disks"]["signatures"]}
    answers["disks"]["volume_groups"] = {"code": 127, "out": "", "error": "pvs is not installed"}
    packages = answers["packages"]
    for name in ("nvidia-open", "nvidia-container-toolkit", "kubeadm"):
        without_package(name)(answers)
    packages |= {"installed": {"code": 1, "out": ""}, "held": {"code": 0, "out": ""}}
    packages["automatic"] = 'APT::Periodic::Unattended-Upgrade "1";\n'
    answers["leftovers"] |= {"paths": [], "servers": {"k3s": "", "kubeadm": ""}}
    answers["services"]["out"] = answers["services"]["out"].replace("ActiveState=active", "ActiveState=inactive")


TOO_LONG = "ping: local error: message too long, mtu=1500\n"
NAMES = {"node0": "enp65s0f0np0", "node1": "enp65s0f1np1", "fabric0": "enp94s0np0"}


def test_nothing_forbids_going_on_with_servers_as_they_are_delivered():
    found = look({"gpu-01": as_delivered})
    assert {each.weight for each in found} == {Weight.CHANGES}, found
    assert {each.check for each in found} == {
        "swap is off",
        "nouveau is not loaded",
        "fabric manager is the drivers",
        "nothing upgrades by itself",
        "peers answer",
        "ports have their mtu",
    }


def half_made(api):
    """A machine on which kubeadm was cut off, with the mark of the run that had begun."""

    def change(answers):
        answers["leftovers"]["paths"].remove("/etc/kubernetes/kubelet.conf")
        answers["leftovers"]["servers"]["kubeadm"] = ""
        answers["leftovers"]["mark"] = {"site": "lab", "api": api, "state": "begun"}

    return change


def test_a_node_that_was_begun_for_this_cluster_goes_on_and_one_of_anothers_does_not():
    api = str(site_of("gpu-01").clusters.phase2.api)
    assert look({"gpu-01": half_made(api)}) == ()
    (found,) = look({"gpu-01": half_made("10.99.0.1")})
    assert (found.check, found.weight) == ("no old cluster is left", Weight.FORBIDS)


def test_the_runtime_of_phase_2_is_dockers_package_of_containerd():
    def change(answers):
        answers["packages"]["installed"]["out"] = answers["packages"]["installed"]["out"].replace(
            "hi  containerd 2.3.4-0ubuntu1~24.04.1", "hi  containerd.io 2.3.4-1~ubuntu.24.04~noble"
        )

    assert look({"gpu-01": change}) == ()


def test_an_excused_check_is_told_and_forbids_nothing():
    answers = answers_of("ws-01")
    answers["gpus"]["devices"] = []
    site = site_of("ws-01")
    names = ("gpus are the sites", "flavour drives the gpus found")
    found = verdict(site, 1, Catalog.load(), {"ws-01": answers}, {}, {"k3s_token": TOKEN}, names)
    assert not verdict(site, 1, Catalog.load(), {"ws-01": answers}, {}, {"k3s_token": TOKEN}).succeeded
    assert found.succeeded
    assert {each.weight for each in found.findings} == {Weight.UNSEEN}
    assert "excused" in found.text()


def test_an_excuse_for_what_is_no_check_is_refused():
    with pytest.raises(Refusal, match="no such check"):
        verdict(site_of("ws-01"), 1, Catalog.load(), {"ws-01": answers_of("ws-01")}, {}, {}, ("gpus are the site",))
