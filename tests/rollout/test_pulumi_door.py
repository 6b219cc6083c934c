"""Phase 1's door by the real stack on a real Kubernetes API; pods are simulated, so no proxy of it runs."""

import os
from types import SimpleNamespace

import pytest
from native_stack import ROOT, Native
from played_world import lab

from rackwright.errors import Refusal
from rackwright.rollout.platform.stack import PulumiStack
from rackwright.rollout.pulumi_door import PulumiDoor, shares_of
from rackwright.rollout.traffic import Share, Shares
from rackwright.rollout.world import State
from rackwright.sandbox import stages
from rackwright.sandbox.control_plane import ControlPlane
from rackwright.sandbox.nodes import nodes, storage_capacities
from rackwright.site.catalog import Catalog


def pod(share=None, *, ends=False):
    metadata = {"annotations": {"rackwright/share": share} if share else {}}
    return {"metadata": metadata | ({"deletionTimestamp": "2026-01-01T00:00:00Z"} if ends else {})}


def test_one_that_ends_takes_no_more_requests_and_does_not_count():
    assert shares_of({"items": [pod(), pod()]}) == Shares(0, 0)
    assert shares_of({"items": [pod("10"), pod("1")]}) == Shares(1, 10)
    assert shares_of({"items": [pod("10"), pod("1", ends=True)]}) == Shares(10, 10)
    with pytest.raises(Refusal, match="No proxy of phase 1's door runs"):
        shares_of({"items": [pod("10", ends=True)]})


def test_what_a_program_says_is_told(tmp_path):
    stack = PulumiStack(tmp_path, 1, tmp_path)
    door = PulumiDoor(stack, ("kubectl-that-is-not-there",))
    with pytest.raises(Refusal, match="kubectl-that-is-not-there does not answer"):
        door.shares()
    with pytest.raises(Refusal, match="false get pods says no"):
        PulumiDoor(stack, ("false",)).shares()


def test_an_old_proxy_that_is_told_to_end_a_moment_later_is_waited_for(monkeypatch):
    seen = iter([Shares(0, 10), Shares(0, 10), Shares(10, 10)])
    waited = []
    stack = SimpleNamespace(set=lambda *_: None, up=lambda: None)
    monkeypatch.setattr(PulumiDoor, "shares", lambda _: next(seen))
    PulumiDoor(stack, (), waited.append).put(10)
    assert len(waited) == 2
    monkeypatch.setattr(PulumiDoor, "shares", lambda _: Shares(0, 10))
    with pytest.raises(Refusal, match="0 to 10 % of sessions go on, not 10 %"):
        PulumiDoor(stack, (), waited.append).put(10)


@pytest.fixture(scope="module")
def door(toolbox, say, tmp_path_factory):
    site = lab()
    before = os.environ.get("ANSIBLE_VAULT_PASSWORD_FILE")
    with ControlPlane(
        toolbox, storage_classes=stages.STORAGE_CLASSES, load_balancer_address=str(site.door(1)), progress=say
    ) as cluster:
        cluster.apply(nodes(site, 1, Catalog.load()))
        cluster.apply(storage_capacities(site, 1))
        native = Native(tmp_path_factory.mktemp("door"), cluster, toolbox, site)
        native.stack("up", "--yes", "--skip-preview")
        options = ("--config-file", str(native.file))
        kubectl = ("kubectl", f"--kubeconfig={cluster.kubeconfig}")
        yield PulumiDoor(PulumiStack(ROOT / "inventory" / "lab", 1, ROOT, options, native.environment), kubectl)
    os.environ.pop("ANSIBLE_VAULT_PASSWORD_FILE", None)
    if before is not None:
        os.environ["ANSIBLE_VAULT_PASSWORD_FILE"] = before


def test_a_share_is_put_seen_and_taken_back(door):
    assert door.shares() == Shares(0, 0)
    step = Share(door, 0, 10)
    assert step.look().state is State.ABSENT
    step.do()
    assert step.look().state is State.DONE
    assert door.shares() == Shares(10, 10)
    step.undo()
    assert step.look().state is State.ABSENT


def test_a_share_that_is_none_is_refused_by_the_stack_and_nothing_is_changed(door):
    with pytest.raises(Refusal, match="rackwright:share is 101"):
        door.put(101)
    assert door.shares() == Shares(0, 0)
    door.put(0)
