"""Phase 1's store and phase 2's: stand-ins, and two real ones.

RACKWRIGHT_QDRANT names the program of a real one.
"""

import os
import random

import pytest
from qdrant_stores import DOCUMENTS, IMAGES, RealStore, Writer, answers, copy, document, image, names, stores, write
from waiting import until

from rackwright.rollout.qdrant.store import path
from rackwright.rollout.rehearsal.stand_in import StandIn


@pytest.fixture(params=["stand-in", "real"])
def both(request, tmp_path):
    """Phase 1's and phase 2's."""
    if request.param == "stand-in":
        found = [StandIn(), StandIn()]
    else:
        program = os.environ.get("RACKWRIGHT_QDRANT")
        if not program:
            pytest.skip("NO QDRANT: nothing was tried on a real one. RACKWRIGHT_QDRANT names its program")
        found = [RealStore(program, tmp_path / str(port), port) for port in (16333, 16343)]
    old, new = stores(found)
    until(lambda: answers(old) and answers(new), "no store")
    yield found
    for each in found:
        each.end()


@pytest.fixture
def filled(both):
    """Phase 1 with two collections of all kinds of vectors, ids, payloads."""
    old, _ = stores(both)
    chance = random.Random(7)
    old.ask("PUT", path("documents"), DOCUMENTS | {"shard_number": 2})
    old.ask("PUT", path("images and more"), IMAGES)
    old.ask("PUT", path("documents", "index") + "?wait=true", {"field_name": "city", "field_schema": "keyword"})
    text = {"type": "text", "tokenizer": "word"}
    old.ask("PUT", path("documents", "index") + "?wait=true", {"field_name": "a.b", "field_schema": text})
    alias = {"create_alias": {"alias_name": "library", "collection_name": "documents"}}
    old.ask("POST", "/collections/aliases", {"actions": [alias]})
    write(old, "documents", [document(chance, name) for name in range(300)])
    write(old, "images and more", [image(chance, name) for name in names(chance, 60)])
    return both


@pytest.fixture
def writers(filled, monkeypatch):
    """How long anything takes is a figure of the machine that this runs on, and here it is busy with other tests."""
    for bound in ("REFUSED_S", "IN_A_PAUSE_S"):
        monkeypatch.setattr(f"rackwright.rollout.qdrant.acts.{bound}", 300)
    copy(filled).do()
    found = [Writer(filled, number) for number in range(3)]
    until(lambda: all(len(writer.told) > 10 for writer in found), "nothing was written")
    yield found
    for writer in found:
        writer.end()
