"""What editors and readers get out of the models."""

import json
import re

import pytest
from fixture_files import INVALID, ROOT, read_invalid, valid_files
from jsonschema import Draft7Validator, FormatChecker

from rackwright.site.reading.document import read
from rackwright.site.reading.shape import blocks
from rackwright.site.reference import reference
from rackwright.site.schema import schema
from rackwright.site.site import Site

# Faults that an editor can show while somebody types: those of one value, and of keys.
SEEN_BY_EDITORS = [
    "key_unknown", "key_misspelt", "key_misplaced", "key_missing", "block_is_a_word", "list_is_a_block",
    "phase_unknown", "role_misspelt", "host_without_ports", "host_name_form", "address_form", "mtu_above_the_most",
    "system_unknown", "release_without_quotes", "product_unknown", "disk_by_kernel_name", "purpose_unknown",
    "mac_form", "speed_unknown", "revision_is_a_branch", "source_of_two_kinds", "source_of_no_kind",
    "architecture_unknown", "precision_unknown", "key_of_a_tenant_is_a_key", "gateway_host_is_an_address",
    "kubeconfig_is_relative", "driver_branch_is_known", "parsers_are_known", "vectors_are_on_block_storage",
    "site_system_is_supported", "switch_for_a_number",
]  # fmt: skip


@pytest.fixture(scope="module")
def validator():
    """A validator of the schema, with the forms of addresses."""
    made = json.loads(json.dumps(schema()))
    Draft7Validator.check_schema(made)
    return Draft7Validator(made, format_checker=FormatChecker(["ipv4"]))


@pytest.mark.parametrize("file", valid_files(), ids=lambda file: f"{file.parent.name}/{file.name}")
def test_a_valid_site_is_valid_in_an_editor(file, validator):
    assert [error.message for error in validator.iter_errors(read(file).data)] == []


@pytest.mark.parametrize("name", SEEN_BY_EDITORS)
def test_an_editor_shows_what_is_wrong_with_one_value(name, validator, tmp_path):
    (tmp_path / "site.yml").write_text(read_invalid(INVALID / f"{name}.yml").text)
    assert not validator.is_valid(read(tmp_path / "site.yml").data)


def test_every_key_is_described_for_an_editor():
    made = schema()
    for name, model in blocks(Site).items():
        properties = made["properties"] if model is Site else made["$defs"][name]["properties"]
        assert all(properties[key].get("description", "").endswith(".") for key in model.model_fields), name


def test_the_reference_that_is_committed_is_current():
    assert (ROOT / "docs" / "site-file.md").read_text() == reference(), "run: rackwright schema --write"


def test_the_reference_has_every_key_once_in_its_block():
    text = reference()
    for model in blocks(Site).values():
        section = next(part for part in text.split("\n## ") if f"\n\n{model.__doc__}\n\n" in part)
        assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(model.model_fields)
