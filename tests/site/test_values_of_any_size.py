"""A value of any size and any letters, at any place: refused or taken, and never repeated at length or in clear."""

import itertools
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from annotated_types import Le
from pydantic import BaseModel

from rackwright.site.reading.faults import SiteRefused, spell
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]
TOKENS = (
    "hf_abcdefghijklmnopqrstuvwxyz", "sk-abcdefghijklmnop1234", "AKIAABCDEFGHIJKLMNOP", "nvapi-abcdefghijklmnopqrstuv",
    "glpat-abcdefghijklmnopqrst", "github_pat_11ABCDEFG0abcdefghijklmnopqrst", "https://me:abcdefghij@host/x",
    "-----BEGIN RSA PRIVATE KEY-----\nabcdefghij\n",
)  # fmt: skip
LONGEST_FAULT = 1_000


@pytest.fixture(scope="module")
def sample():
    return yaml.safe_load((ROOT / "inventory" / "workstation" / "site.yml").read_text())


def places(data, place=()):
    yield place
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for step, value in items:
        yield from places(value, (*place, step))


def written(data, place, value):
    """The data with another value at a place."""
    if not place:
        return value
    copied = data.copy()
    copied[place[0]] = written(data[place[0]], place[1:], value)
    return copied


def faults(folder, data):
    (folder / "site.yml").write_text(yaml.safe_dump(data, sort_keys=False, width=10**9))
    try:
        Site.load(folder)
    except SiteRefused as refused:
        return [str(fault) for fault in refused.faults]
    return []


def test_a_token_is_never_repeated(sample, tmp_path):
    for place, token in zip(list(places(sample))[1:], itertools.cycle(TOKENS), strict=False):
        said = faults(tmp_path, written(sample, place, token))
        assert said, spell(place)
        assert not [fault for fault in said if "abcdefghij" in fault.lower()], spell(place)


@pytest.mark.parametrize("place", [("operating_system", "release"), ("models", 0, "tool_call_parser")])
@pytest.mark.parametrize("token", TOKENS, ids=lambda token: token[:8])
def test_no_token_is_repeated_where_words_are_free(sample, tmp_path, place, token):
    said = faults(tmp_path, written(sample, place, token))
    assert said
    assert not [fault for fault in said if "abcdefghij" in fault.lower()]


@pytest.mark.parametrize("token", [token for token in TOKENS if "\n" not in token], ids=lambda token: token[:8])
def test_a_token_is_not_repeated_where_it_stands_for_a_key(sample, tmp_path, token):
    for block in (sample, sample["gpu"], sample["models"][0]):
        block[token] = 1
        said = faults(tmp_path, sample)
        del block[token]
        assert said
        assert not [fault for fault in said if "abcdefghij" in fault.lower()]


@pytest.mark.parametrize("value", ["a" * 5_000, "9" * 400, "\x1b[31m\nb", {"a": 1}])
def test_a_fault_is_one_line_of_some_length(sample, tmp_path, value):
    for place in list(places(sample))[1:]:
        for fault in faults(tmp_path, written(sample, place, value)):
            assert len(fault) < LONGEST_FAULT, spell(place)
            assert fault.isprintable(), spell(place)
            assert "<unknown>" not in fault, spell(place)


def test_a_thousand_models_that_do_not_fit_are_told_in_lines_of_some_length(sample, tmp_path):
    model = sample["models"][0]
    models = [{**model, "name": f"m{number}"} for number in range(1_000)]
    said = faults(tmp_path, {**sample, "models": models})
    assert said
    assert max(map(len, said)) < LONGEST_FAULT


def _metadata(annotation: Any) -> list[Any]:
    found = itertools.chain(*(getattr(each, "metadata", [each]) for each in getattr(annotation, "__metadata__", ())))
    return [*found, *itertools.chain(*map(_metadata, get_args(annotation)))]


def _parts(annotation: Any) -> set[Any]:
    return {annotation, *itertools.chain(*map(_parts, get_args(annotation)))}


def _blocks(model: type[BaseModel], seen: set[type[BaseModel]]) -> set[type[BaseModel]]:
    if model not in seen:
        seen.add(model)
        for part in itertools.chain(*(_parts(info.annotation) for info in model.model_fields.values())):
            if isinstance(part, type) and issubclass(part, BaseModel):
                _blocks(part, seen)
    return seen


def test_every_number_has_a_most_so_that_nothing_reckoned_from_it_overflows():
    for model in _blocks(Site, set()):
        for name, info in model.model_fields.items():
            limits = [*info.metadata, *_metadata(info.annotation)]
            if {int, float} & _parts(info.annotation):
                assert any(isinstance(each, Le) for each in limits), f"{model.__name__}.{name}"
