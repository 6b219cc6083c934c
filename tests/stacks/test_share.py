"""The share of sessions that go on to phase 2, from the stack's configuration to the gateway."""

from types import SimpleNamespace

import pytest

from rackwright.errors import Refusal
from rackwright.site.site import Site
from stacks import given, phase1


def told(share):
    return SimpleNamespace(get_int=lambda _: share)


def lab():
    return Site.load(given.ROOT / "inventory" / "lab")


def test_a_share_leads_to_the_door_of_phase_2_with_models_of_both():
    shift = phase1.shift(SimpleNamespace(site=lab(), share=10))
    assert (shift.door, shift.host, shift.percent) == ("10.30.0.6:443", "llm.lab.internal", 10)
    assert shift.models == ("llama-70b", "qwen3-32b")
    assert phase1.shift(SimpleNamespace(site=lab(), share=0)) is None


def test_a_share_that_leads_nowhere_is_refused():
    assert given._share(told(None), lab(), 1) == 0
    assert given._share(told(100), lab(), 1) == 100
    for share, site, phase in ((101, lab(), 1), (-1, lab(), 1), (10, lab(), 2)):
        with pytest.raises(Refusal, match="rackwright:share is"):
            given._share(told(share), site, phase)
    alone = Site.load(given.ROOT / "inventory" / "example")
    with pytest.raises(Refusal, match="has no phase 2 to send anybody to"):
        given._share(told(10), alone, 1)
