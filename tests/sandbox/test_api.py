"""A real API asked from this process, over a connection that is kept."""

import multiprocessing
import socket

import pytest

from rackwright.sandbox.api import Api

PLACE = "/api/v1/namespaces/default"


@pytest.fixture
def api(control_plane):
    return Api(control_plane.kubeconfig)


def name(api) -> str:
    return api.get(PLACE)["metadata"]["name"]


def test_a_connection_is_kept_and_made_anew_where_the_server_ended_it(api):
    assert name(api) == "default"
    kept = api._connection.sock
    assert api.get(f"{PLACE}-that-is-not-there") is None
    assert api._connection.sock is kept
    kept.shutdown(socket.SHUT_RDWR)
    assert name(api) == "default"
    assert api._connection.sock is not kept


def test_whoever_is_forked_has_a_connection_of_its_own(api):
    assert name(api) == "default"
    kept = api._connection.sock

    def ask():
        assert name(api) == "default"
        assert api._connection.sock is not kept

    child = multiprocessing.get_context("fork").Process(target=ask)
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert name(api) == "default"
    assert api._connection.sock is kept
