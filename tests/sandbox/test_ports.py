"""Ports on this machine."""

import socket

import pytest

from rackwright.errors import Refusal
from rackwright.sandbox import ports


def test_free_ports_are_free_and_differ():
    numbers = ports.free(8)
    assert len(set(numbers)) == 8
    for number in numbers:
        assert ports.demand(number) == number


def test_a_port_that_listens_is_refused_with_its_holder():
    with socket.create_server(("127.0.0.1", 0)) as server:
        number = server.getsockname()[1]
        with pytest.raises(Refusal, match=rf"Port {number} on 127.0.0.1 is in use by process \d+ \(.+\)\.") as refused:
            ports.demand(number)
    assert "another port" in refused.value.cure


def test_a_port_whose_holder_is_not_known_is_refused_without_one(monkeypatch):
    monkeypatch.setattr(ports, "LISTENING", "none such")
    with socket.create_server(("127.0.0.1", 0)) as server:
        number = server.getsockname()[1]
        with pytest.raises(Refusal, match=rf"Port {number} on 127.0.0.1 is in use\."):
            ports.demand(number)
