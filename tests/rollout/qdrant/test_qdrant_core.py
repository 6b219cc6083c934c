"""What passes rest on, seen on Qdrant's own storage, which the package qdrant-edge-py has without a server."""

import json
import random
from uuid import UUID

import pytest

from rackwright.rollout.qdrant.points import is_same, key

edge = pytest.importorskip(
    "qdrant_edge", reason="NO QDRANT-EDGE: pip install qdrant-edge-py shows Qdrant's own storage"
)


@pytest.fixture
def shard(tmp_path):
    """One of a size and a distance."""

    def made(name, size, distance=edge.Distance.Cosine):
        vectors = {"": edge.EdgeVectorParams(size=size, distance=distance)}
        return edge.EdgeShard.create(str(tmp_path / name), edge.EdgeConfig(vectors=vectors))

    return made


def write(shard, points):
    shard.update(edge.UpdateOperation.upsert_points(points))


def held(shard):
    found, _ = shard.scroll(edge.ScrollRequest(limit=10_000, with_payload=True, with_vector=True))
    return found


@pytest.mark.parametrize("size", [3, 768, 1536])
def test_a_vector_that_was_brought_to_length_one_is_copied_as_it_is(shard, size):
    chance = random.Random(size)
    first, second = shard("first", size), shard("second", size)
    write(first, [edge.Point(name, [chance.gauss(0, 3) for _ in range(size)]) for name in range(200)])
    write(second, [edge.Point(each.id, json.loads(json.dumps(list(each.vector)))) for each in held(first)])
    for one, other in zip(held(first), held(second), strict=True):
        assert is_same({"vector": list(one.vector)}, {"vector": list(other.vector)})


def test_points_come_in_the_order_that_passes_take_for_granted(shard):
    chance = random.Random(1)
    numbers = [7, 2**63 + 5, 1, *(chance.getrandbits(60) for _ in range(50))]
    texts = [str(UUID(int=chance.getrandbits(128))) for _ in range(50)]
    found = shard("mixed", 2)
    write(found, [edge.Point(name, [1.0, 2.0]) for name in numbers])
    write(found, [edge.Point(UUID(name), [1.0, 2.0]) for name in texts])
    seen = [each.id if isinstance(each.id, int) else str(each.id) for each in held(found)]
    assert seen == sorted([*numbers, *texts], key=key)


def test_an_operation_that_names_no_point_removes_none(shard):
    found = shard("all", 2)
    write(found, [edge.Point(name, [1.0, 2.0]) for name in range(10)])
    nothing = edge.Filter(must=[edge.HasIdCondition(set())])
    found.update(edge.UpdateOperation.delete_points_by_filter(nothing))
    assert found.count(edge.CountRequest(exact=True)) == 10
