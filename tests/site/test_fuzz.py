"""Whatever a file holds: a site, or a refusal in sentences, and never a traceback.

`RACKWRIGHT_FUZZ=50` in the environment looks at fifty times as many examples, other ones each time.
"""

import os

import pytest
import yaml
from fixture_files import CATALOG, valid_files
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from site_strategies import sites, spoilt

from rackwright.errors import Refusal
from rackwright.site.catalog import Catalog
from rackwright.site.reading.document import read
from rackwright.site.reading.faults import FileRefused
from rackwright.site.site import Site

TIMES = int(os.environ.get("RACKWRIGHT_FUZZ", "1"))
TEXTS = [file.read_text() for file in valid_files()]
DOCUMENTS = [read(file).data for file in valid_files()]
CHARACTERS = st.sampled_from(
    [*"abc:-{}[]&*#!|>'\"%@`,?~\n\t \\0123456789.<=", "\x00", "\x1b", "é", "\u2028", "\U0001f4a5"]
)


def examples(count):
    """How long to look: the same examples each time, unless more are wanted."""
    return settings(
        max_examples=count * TIMES,
        derandomize=TIMES == 1,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A place for what is looked at."""
    return tmp_path_factory.mktemp("fuzz") / "site.yml"


def answer(load, file):
    """A site or a catalog, or what it is refused with, which people must be able to read."""
    try:
        return load(file)
    except Refusal as refused:
        return readable(refused)


def readable(refused):
    """A refusal that is whole sentences, each with its place and its cure."""
    assert refused.what
    assert refused.cure
    if not isinstance(refused, FileRefused):
        assert refused.what.endswith(".")
        return refused
    assert refused.faults
    for fault in refused.faults:
        assert fault.what
        assert fault.cure
        assert fault.path
        assert fault.line >= 1
        assert "\n" not in str(fault)
        assert len(str(fault)) < 2_000
        assert "nknown>" not in str(fault)
    return refused


def write(file, data):
    """A document as a file."""
    file.write_text(yaml.dump(data, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True))


@examples(60)
@given(document=sites())
def test_a_sound_site_passes_and_comes_back_as_it_went(file, document):
    write(file, document)
    site = Site.load(file)
    assert site == Site.model_validate(document)
    write(file, site.model_dump(mode="json"))
    assert Site.load(file) == site


@examples(700)
@given(data=st.data())
def test_a_spoilt_document_is_refused_in_sentences(file, data):
    write(file, data.draw(spoilt(data.draw(st.sampled_from(DOCUMENTS)))))
    answer(Site.load, file)


@examples(400)
@given(text=st.sampled_from(TEXTS), data=st.data())
def test_a_text_with_lines_moved_is_refused_in_sentences(file, text, data):
    lines = text.split("\n")
    for _ in range(data.draw(st.integers(1, 4))):
        one, other = data.draw(st.integers(0, len(lines) - 1)), data.draw(st.integers(0, len(lines) - 1))
        match data.draw(st.sampled_from(["delete", "repeat", "swap", "indent", "dedent", "cut"])):
            case "delete" if len(lines) > 1:
                del lines[one]
            case "repeat":
                lines.insert(other, lines[one])
            case "swap":
                lines[one], lines[other] = lines[other], lines[one]
            case "indent":
                lines[one] = "  " + lines[one]
            case "dedent":
                lines[one] = lines[one].removeprefix("  ")
            case _:
                lines = lines[: max(one, 1)]
    file.write_text("\n".join(lines))
    answer(Site.load, file)


@examples(400)
@given(text=st.sampled_from(TEXTS), data=st.data())
def test_a_text_with_characters_changed_is_refused_in_sentences(file, text, data):
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 3))
        text = text[:at] + data.draw(st.text(CHARACTERS, max_size=4)) + text[at + length :]
    file.write_text(text)
    answer(Site.load, file)


@examples(200)
@given(content=st.binary(max_size=300))
def test_bytes_of_any_kind_are_refused_in_sentences(file, content):
    file.write_bytes(content)
    assert isinstance(answer(Site.load, file), Refusal)


@examples(200)
@given(data=st.data())
def test_a_spoilt_catalog_is_refused_in_sentences(tmp_path_factory, data):
    pins = tmp_path_factory.mktemp("catalog") / "catalog.yml"
    write(pins, data.draw(spoilt(read(CATALOG).data)))
    answer(Catalog.load, pins)
