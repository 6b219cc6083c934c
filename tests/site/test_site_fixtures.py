"""Every shape that must pass passes; every rule has a fixture that breaks it, and nothing else, at the right line."""

import inspect

import pytest
from fixture_files import EXPECTS, INVALID, read_invalid, valid_files
from pydantic import BaseModel

from rackwright.site import catalog_rules
from rackwright.site.catalog import Catalog
from rackwright.site.load import load
from rackwright.site.reading.faults import FileRefused
from rackwright.site.reading.judge import judge, rules_in
from rackwright.site.reading.shape import models
from rackwright.site.rules import rules
from rackwright.site.site import Site

FIXTURES = sorted(INVALID.glob("*.yml"))


def refusal(fixture, folder):
    """What the real loader says of a fixture."""
    file = folder / "site.yml"
    file.write_text(fixture.text)
    catalog = None
    if fixture.catalog:
        pins = folder / f"catalog-of-{fixture.name}.yml"
        pins.write_text(fixture.catalog)
        catalog = Catalog.load(pins)
    with pytest.raises(FileRefused) as refused:
        load(Site, file, catalog)
    return refused.value


@pytest.mark.parametrize("file", valid_files(), ids=lambda file: f"{file.parent.name}/{file.name}")
def test_a_valid_site_passes(file):
    assert Site.load(file).name


@pytest.mark.parametrize("file", FIXTURES, ids=lambda file: file.stem)
def test_an_invalid_site_has_its_one_fault(file, tmp_path):
    fixture = read_invalid(file)
    faults = refusal(fixture, tmp_path).faults
    assert [(fault.path, fixture.what in fault.what) for fault in faults] == [(fixture.path, True)], faults
    assert faults[0].line in fixture.lines, f"shown in line {faults[0].line}, edited {sorted(fixture.lines)}"
    assert faults[0].cure
    assert faults[0].file == str(tmp_path / "site.yml")


def test_every_fixture_says_what_it_expects():
    assert all(file.read_text().startswith(EXPECTS) for file in FIXTURES)


def test_every_rule_has_a_fixture_of_its_name_that_breaks_it(tmp_path, monkeypatch):
    broken_by_file = {}
    for file in FIXTURES:
        seen = []
        monkeypatch.setattr("rackwright.site.load.broken", lambda blocks, seen=seen: _watched(blocks, seen))
        refusal(read_invalid(file), tmp_path)
        broken_by_file[file.stem.split("-")[0]] = set(seen) | broken_by_file.get(file.stem.split("-")[0], set())
    names = {rule.__name__ for rule in rules()}
    assert {name for name in names if broken_by_file.get(name) != {name}} == set()
    assert {name for name, seen in broken_by_file.items() if seen and name not in names} == set()


def _watched(blocks, seen):
    for rule, each in judge(rules(), blocks):
        seen.append(rule.__name__)
        yield each


def test_names_of_rules_are_unique_and_each_says_why():
    for found in (rules(), rules_in(catalog_rules)):
        names = [rule.__name__ for rule in found]
        assert len(names) == len(set(names))
        assert all(inspect.getdoc(rule) for rule in found)


@pytest.mark.parametrize("kind", [Site, Catalog])
def test_relations_between_values_are_rules_and_not_validators(kind):
    pending, seen = [kind], set()
    while pending:
        model = pending.pop()
        assert issubclass(model, BaseModel)
        assert not model.__pydantic_decorators__.model_validators, model
        seen.add(model)
        pending += [
            inner for info in model.model_fields.values() for inner in models(info.annotation) if inner not in seen
        ]
