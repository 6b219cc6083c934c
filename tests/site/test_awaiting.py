"""A site before some of its hosts have joined: every rule holds, and the whole site only adds."""

import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from site_strategies import sites

from rackwright.errors import Refusal
from rackwright.site.awaiting import CannotServe, awaiting
from rackwright.site.catalog import Catalog
from rackwright.site.load import load
from rackwright.site.rules import broken
from rackwright.site.serving import Disaggregation, Serving
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]
CATALOG = Catalog.load()


def lab() -> Site:
    return Site.load(ROOT / "inventory" / "lab")


def faults(site: Site) -> list:
    blocks = {name: getattr(site, name) for name in Site.model_fields}
    return list(broken(blocks | {"site": site, "catalog": CATALOG}))


def only_adds(fewer: Site, whole: Site) -> None:
    """What is there before is there afterwards, under its name and number."""
    assert {host.name for host in fewer.hosts_in(2)} < {host.name for host in whole.hosts_in(2)}
    assert fewer.hosts_in(1)
    assert [host.name for host in fewer.hosts] == [host.name for host in whole.hosts]
    assert [serving for _, serving in fewer.models_in(1)] == [serving for _, serving in whole.models_in(1)]
    wished = {model.name: serving for model, serving in whole.models_in(2)}
    assert {model.name for model, _ in fewer.models_in(2)} == set(wished)
    for model, serving in fewer.models_in(2):
        assert 0 < serving.replicas <= wished[model.name].replicas
        assert serving.model_copy(update={"replicas": 1, "disaggregation": None}) == wished[model.name].model_copy(
            update={"replicas": 1, "disaggregation": None}
        )
    assert 0 < fewer.vectors.phase2.replicas <= whole.vectors.phase2.replicas
    assert 0 < fewer.postgresql.phase2.instances <= whole.postgresql.phase2.instances


def test_the_rack_before_its_first_server_joins():
    whole = lab()
    fewer = awaiting(whole, ["gpu-01"], CATALOG)
    assert [host.name for host in fewer.hosts_in(1)] == ["gpu-01"]
    assert "gpu-01" not in [host.name for host in fewer.hosts_in(2)]
    assert [host.name for host in fewer.hosts] == [host.name for host in whole.hosts]
    replicas = {model.name: serving.replicas for model, serving in fewer.models_in(2)}
    assert replicas == {"llama-70b": 3, "qwen3-32b": 2}  # all sixteen GPUs, and no less than phase 1 has
    assert (fewer.vectors.phase2.replicas, fewer.vectors.phase2.replication_factor) == (1, 1)  # two would not agree
    assert (fewer.postgresql.phase2.instances, fewer.postgresql.phase2.synchronous) == (2, False)
    assert not faults(fewer)
    only_adds(fewer, whole)


def test_a_model_that_has_no_room_is_named():
    site = lab()
    hosts = [host for host in site.hosts if host.name != "gpu-03"]
    fewer = hosts[1].gpus.model_copy(update={"count": 4})
    hosts[1] = hosts[1].model_copy(update={"gpus": fewer})
    with pytest.raises(CannotServe) as refusal:
        awaiting(site.model_copy(update={"hosts": tuple(hosts)}), ["gpu-01"], CATALOG)
    assert "Phase 2 of lab cannot serve without gpu-01, even with as few replicas as phase 1 has" in refusal.value.what
    assert "(llama-70b 1 x 4, qwen3-32b 2 x 2), and there are 4 (gpu-02 4)" in refusal.value.what
    assert "phases: [2]" in refusal.value.cure


def test_nobody_awaited_changes_nothing():
    assert awaiting(lab(), [], CATALOG) is not None
    assert awaiting(lab(), [], CATALOG) == lab()


@pytest.mark.parametrize(("name", "cure"), [("gpu-02", "gpu-01"), ("gpu01", "did you mean gpu-01"), ("x", "gpu-01")])
def test_a_host_that_phase_1_does_not_give_is_refused(name, cure):
    with pytest.raises(Refusal, match="is no host that phase 1 gives to phase 2 later") as refusal:
        awaiting(lab(), [name], CATALOG)
    assert cure.lower() in refusal.value.cure.lower()


def test_halves_of_a_model_are_counted_apart():
    divided = Disaggregation(prefill=2, decode=2)
    first = lab().models[0]
    model = first.model_copy(update={"phase2": Serving(replicas=4, disaggregation=divided)})
    whole = lab().model_copy(update={"models": (model, lab().models[1])})
    fewer = awaiting(whole, ["gpu-01"], CATALOG)
    only_adds(fewer, whole)
    served = fewer.models[0].phase2
    assert (served.replicas, served.disaggregation) == (3, Disaggregation(prefill=1, decode=2))


@settings(max_examples=30)
@given(sites())
def test_of_any_site_what_is_there_keeps_every_rule_or_is_refused_in_words(document):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "site.yml")
        file.write_text(yaml.safe_dump(document))
        whole = load(Site, file)
    joining = [host.name for host in whole.hosts if host.phases == (1, 2)]
    if whole.phases != (1, 2) or not joining:
        return
    with suppress(CannotServe):
        fewer = awaiting(whole, joining, CATALOG)
        assert not faults(fewer)
        only_adds(fewer, whole)
