"""What the rollout asks of Qdrant is what upstream says may be asked, of the release that is pinned."""

import json
import os
import re
from pathlib import Path
from urllib.parse import parse_qs

import jsonschema
import pytest

from rackwright.rollout.qdrant.acts import Copy, CutOver
from rackwright.rollout.qdrant.backup import QdrantBackup
from rackwright.rollout.qdrant.golden import Golden
from rackwright.rollout.qdrant.shape import Spread
from rackwright.rollout.qdrant.store import Store, path
from rackwright.rollout.rehearsal.stand_in import RELEASE, StandIn
from rackwright.site.catalog import Catalog


@pytest.fixture(scope="module")
def interface():
    """Upstream's description, where it is to be had."""
    file = os.environ.get("RACKWRIGHT_QDRANT_INTERFACE")
    if not file:
        pytest.skip("RACKWRIGHT_QDRANT_INTERFACE names no openapi.json of Qdrant's, so no request was compared with it")
    return json.loads(Path(file).read_text())


def as_schema(value):
    """OpenAPI's schemas as JSON Schema has them: what may be null says so otherwise."""
    if isinstance(value, list):
        return [as_schema(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {key: as_schema(each) for key, each in value.items() if key not in ("nullable", "example", "default")}
    if value == {"nullable": True}:
        return {"type": "null"}
    return {"anyOf": [found, {"type": "null"}]} if value.get("nullable") is True else found


def faults(interface, asked):
    """What of the requests is not described."""
    places = {re.compile(re.sub(r"\{\w+\}", "[^/]+", name) + "$"): each for name, each in interface["paths"].items()}
    parts = {"components": as_schema(interface["components"])}
    for method, where, query, body in asked:
        found = [each for pattern, each in places.items() if pattern.match(where)]
        described = next((each[method.lower()] for each in found if method.lower() in each), None)
        if described is None:
            yield f"{method} {where} is not there"
            continue
        known = {each["name"] for each in described.get("parameters", [])}
        yield from (f"{method} {where} knows no {name}" for name in parse_qs(query) if name not in known)
        content = described.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
        if (content is None) != (body is None):
            yield f"{method} {where} {'takes no body' if content is None else 'wants a body'}"
        elif content is not None:
            yield from _of_body(as_schema(content) | parts, body, f"{method} {where}")


def _of_body(schema, body, where):
    validator = jsonschema.Draft7Validator(schema)
    yield from (f"{where}: {error.message[:200]}" for error in validator.iter_errors(body))
    name = schema.get("$ref", "").rpartition("/")[2]
    known = schema["components"]["schemas"].get(name, {}).get("properties")
    if known:
        yield from (f"{where} knows no {key}" for key in body if key not in known)


@pytest.fixture
def asked():
    """Every request of a whole life, there and back, of a store with something of everything."""
    both = [StandIn(), StandIn()]
    old, new = (Store(name, [each.address], each.key) for name, each in zip(("phase-1", "phase-2"), both, strict=True))
    vectors = {"a": {"size": 2, "distance": "Dot"}, "many": {"size": 2, "distance": "Dot"}}
    old.ask("PUT", path("all"), {"vectors": vectors, "sparse_vectors": {"words": {}}, "metadata": {"of": "somebody"}})
    vector = {"a": [0.5, 1.0], "many": [[1.0, 2.0]], "words": {"indices": [3], "values": [1.0]}}
    old.ask("PUT", path("all", "points") + "?wait=true", {"points": [{"id": 1, "vector": vector, "payload": {"a": 1}}]})
    old.ask("PUT", path("all", "index") + "?wait=true", {"field_name": "a", "field_schema": "integer"})
    old.ask("PATCH", path("all"), {"strict_mode_config": {"enabled": True, "max_query_limit": 1000}})
    old.ask(
        "POST", "/collections/aliases", {"actions": [{"create_alias": {"alias_name": "b", "collection_name": "all"}}]}
    )
    QdrantBackup(old, lambda _: None).prove()
    copy = Copy(old, new, Spread(6, 2), lambda _: None)
    copy.do()
    new.ask("PUT", path("all", "index") + "?wait=true", {"field_name": "gone", "field_schema": "integer"})
    old.ask("POST", "/collections/aliases", {"actions": [{"delete_alias": {"alias_name": "b"}}]})
    old.ask("PUT", path("all", "points") + "?wait=true", {"points": [{"id": 2, "vector": {}}]})
    Golden(old, new, Spread(6, 2), lambda _: None).do()
    old.ask("POST", path("all", "points", "delete") + "?wait=true", {"points": [2]})
    cut_over = CutOver(old, new, Spread(6, 2), Spread(6, 1), lambda _: None)
    cut_over.collections_follow()
    cut_over.do()
    cut_over.writes_go_on()
    cut_over.undo()
    copy.undo()
    for each in both:
        each.end()
    return [*both[0].asked, *both[1].asked]


def test_the_stand_in_is_of_the_release_that_is_pinned():
    assert Catalog.load().charts["qdrant"].version == RELEASE


def test_every_request_is_one_that_upstream_describes(interface, asked):
    assert interface["info"]["version"].startswith("v" + ".".join(RELEASE.split(".")[:2]))
    assert len(asked) > 100
    assert sorted(set(faults(interface, asked))) == []


def test_the_comparison_finds_what_is_not_described(interface):
    wrong = [
        ("PUT", "/collections/a", "", {"vectors": {"size": 4, "distance": "Far"}}),
        ("PUT", "/collections/a", "", {"vectors": {}, "shards": 6}),
        ("POST", "/collections/a/points/scroll", "", {"limit": "ten"}),
        ("POST", "/locks", "", {"write": True}),
        ("PUT", "/collections/a/points", "waits=true", {"points": []}),
    ]
    assert len(list(faults(interface, wrong))) >= len(wrong)
