"""Whose databases phase 2 has while a site moves: what its stack registers, and what it refuses."""

from types import SimpleNamespace

import pytest

from rackwright.errors import Refusal
from rackwright.site.site import Site
from stacks import given
from stacks.cluster import Seen, mark, refuse_giving_up

LAB = Site.load(given.ROOT / "inventory" / "lab")
WRITING = ("mlflow", "langfuse")


@pytest.fixture(scope="module")
def own(lay):
    return lay(LAB, phase=2)


@pytest.fixture(scope="module")
def awaited(lay):
    return lay(LAB, phase=2, databases="awaited")


@pytest.fixture(scope="module")
def copied(lay):
    return lay(LAB, phase=2, databases="copied")


def names(registered):
    return {(each.type, each.name) for each in registered.resources if not each.type.startswith("pulumi:")}


def kinds(registered, namespace):
    found = [kind.rpartition(":")[2] for kind, name in names(registered) if name.startswith(f"{namespace}/")]
    return sorted(found)


def test_what_is_awaited_is_not_there_nor_what_writes_to_it(awaited, copied, own):
    assert {"Cluster", "Database", "ScheduledBackup", "PodMonitor"}.isdisjoint(kinds(awaited, "postgres"))
    assert {"Release", "Secret", "ObjectStore"} <= set(kinds(awaited, "postgres"))  # what the server will need
    assert [kinds(awaited, each) for each in WRITING] == [[], []]
    assert all(kinds(own, each) for each in WRITING)
    assert names(awaited) < names(copied) < names(own)  # so each update only adds


def test_a_copy_is_there_without_databases_of_its_own_and_says_nothing_of_how_it_began(copied, own):
    found = copied.manifest("postgres/postgres", ":Cluster")["spec"]
    whole = own.manifest("postgres/postgres", ":Cluster")["spec"]
    assert found == {key: value for key, value in whole.items() if key != "bootstrap"}
    assert {"bootstrap", "replica", "externalClusters"}.isdisjoint(found)  # the rollout rules these
    assert "Database" not in kinds(copied, "postgres")
    assert [kinds(copied, each) for each in WRITING] == [[], []]


def test_the_rollout_is_told_what_to_make_the_copy_from(awaited, copied, own):
    for registered in (awaited, copied):
        told = registered.outputs["postgres_founding"]
        assert told["spec"]["instances"] == 3
        assert "bootstrap" not in told["spec"]
    assert "postgres_founding" not in own.outputs


def test_nothing_that_a_stack_is_told_takes_a_server_away(copied, own, lay, example):
    for registered in (copied, own, lay(example)):
        kept = {each.name for each in registered.resources if each.retainOnDelete}
        assert kept == {"postgres/postgres"}
        assert registered.named("postgres/postgres", ":Cluster").retainOnDelete


def test_words_that_cannot_be_meant_are_refused():
    def told(word):
        return SimpleNamespace(get=lambda _: word)

    alone = Site.load(given.ROOT / "inventory" / "example")
    assert given._databases(told(None), LAB, 1) == "own"
    assert given._databases(told("copied"), LAB, 2) == "copied"
    with pytest.raises(Refusal, match="rackwright:databases is copy, and none of own, awaited, copied"):
        given._databases(told("copy"), LAB, 2)
    for site, phase in ((LAB, 1), (alone, 1)):
        with pytest.raises(Refusal, match="has nobody's databases to copy"):
            given._databases(told("awaited"), site, phase)


def test_a_platform_with_databases_of_its_own_keeps_them():
    def seen(owner):
        return Seen(frozenset(), "1.35", owner)

    for databases in ("awaited", "copied"):
        refuse_giving_up(seen(None), databases)
        refuse_giving_up(seen(mark("lab", 2, databases="awaited")["data"]), databases)
        with pytest.raises(
            Refusal, match=f"rackwright:databases is {databases}, and this cluster has databases of its"
        ):
            refuse_giving_up(seen(mark("lab", 2)["data"]), databases)
    refuse_giving_up(seen(mark("lab", 2)["data"]), "own")
    refuse_giving_up(seen(mark("lab", 2, databases="copied")["data"]), "own")
