"""Machines that are as their site says: nothing is to be said of them."""

import pytest
from fleet import BENCH, TOKEN, answers_of, look, site_of

from rackwright.errors import Refusal
from rackwright.preflight import verdict
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


def test_a_phase_without_hosts_is_refused():
    with pytest.raises(Refusal, match="No host of phase 2"):
        verdict(site_of("ws-01"), 2, Catalog.load(), {}, {}, {"k3s_token": TOKEN})


def test_a_token_is_never_in_what_is_said():
    found = look({"ws-01": lambda answers: answers["leftovers"].update(token_digest="f" * 64)})
    assert found
    assert TOKEN not in str(found)
    assert "f" * 64 not in str(found)
