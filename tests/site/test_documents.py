"""Files that are no site at all: each gets one sentence and a cure, and none a traceback."""

import os

import pytest

from rackwright.errors import Refusal
from rackwright.site.reading.document import read
from rackwright.site.reading.scalars import plain
from rackwright.site.site import Site

BAD_FILES = {
    "not_utf8": (b"name: \xff\xfe\n", "is not UTF-8 text (byte 6)"),
    "utf16": ("name: lab\n".encode("utf-16"), "is not UTF-8 text"),
    "null_bytes": (b"name: lab\x00\nhosts: []\n", "holds the control character"),
    "binary": (b"\x7fELF\x02\x01\x01\x00" * 100, "holds the control character"),
    "tab_indent": (b"name: lab\nnetworks:\n\tnodes: 1\n", ":3: a tab stands where YAML wants spaces"),
    "no_yaml": (b"name: lab\nhosts: [\n", "not YAML"),
    "missing_colon": (b"name: lab\nhosts\ngpu: {}\n", "not YAML"),
    "unclosed_quote": (b'name: "lab\nhosts: []\n', "not YAML"),
    "two_documents": (b"name: lab\n---\nname: other\n", ":2: a second document begins"),
    "alias_without_anchor": (b"name: lab\nhosts: *nobody\n", ":2: *nobody stands before any &nobody"),
    "loop": (b"name: lab\nhosts: &all\n  - *all\n", ":3: *all stands inside &all itself, a loop"),
    "long_loop": (b"a: &a {b: &b {c: *a}}\n", "*a stands inside &a itself"),
    "tag": (b"name: !!python/object/apply:os.system [ls]\n", ":1: the tag"),
    "vault_tag": (b"name: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n", "the tag !vault is not allowed here"),
    "tagged_block": (b"hosts: !!set {a, b}\n", "the tag"),
    "key_is_a_list": (b"? [a, b]\n: c\n", ":1: a key must be a word"),
    "deep": (b"name: " + b"[" * 400 + b"]" * 400, "nested more than 40 deep"),
    "very_deep": (b"name: " + b"[" * 5_000 + b"]" * 5_000, "exceeded maximum nesting depth"),
    "deep_blocks": (b"".join(b" " * depth + b"a:\n" for depth in range(2_000)), "nested more than 40 deep"),
    "many_values": (b"hosts: [" + b"1," * 300_001 + b"]", "more than 300000 values"),
    "large": (b"# nothing\n" * 1_000_000, "has 9.5 MiB"),
}


def bomb() -> bytes:
    """Ten lists of ten of the list before."""
    lines = [b"a0: &a0 [x,x,x,x,x,x,x,x,x,x]"]
    lines += [b"a%d: &a%d [%s]" % (n, n, b",".join([b"*a%d" % (n - 1)] * 10)) for n in range(1, 10)]
    return b"\n".join(lines)


BAD_FILES["bomb"] = (bomb(), "more than 300000 values")


@pytest.mark.parametrize("name", BAD_FILES)
def test_what_is_no_document_is_refused_in_a_sentence(name, tmp_path):
    content, what = BAD_FILES[name]
    file = tmp_path / "site.yml"
    file.write_bytes(content)
    with pytest.raises(Refusal) as refused:
        Site.load(file)
    assert what in refused.value.what
    assert refused.value.what.endswith(".")
    assert "\n" not in refused.value.what
    assert refused.value.cure.endswith(".")


EMPTY = {
    "empty": b"",
    "only_comments": b"# to be written\n",
    "only_marks": b"---\n...\n",
    "null": b"~\n",
    "blank": b"\n\n\n",
}


@pytest.mark.parametrize("name", EMPTY)
def test_an_empty_file_says_what_it_should_hold(name, tmp_path):
    file = tmp_path / "site.yml"
    file.write_bytes(EMPTY[name])
    with pytest.raises(Refusal) as refused:
        Site.load(file)
    assert "the document: is empty, not a block of keys; keys: name, operating_system" in refused.value.cure


@pytest.mark.parametrize("content", [b"[]", b"hello", b"3.5", b"- name: lab", b"true", b"x" * 100_000])
def test_a_document_of_another_kind_says_what_it_should_hold(content, tmp_path):
    file = tmp_path / "site.yml"
    file.write_bytes(content)
    with pytest.raises(Refusal) as refused:
        Site.load(file)
    assert "not a block of keys" in refused.value.cure
    assert len(refused.value.cure) < 1_000


def test_a_file_that_is_not_there_is_refused(tmp_path):
    for missing in (tmp_path / "nowhere", tmp_path / "nowhere" / "site.yml", tmp_path):
        with pytest.raises(Refusal, match="cannot be read"):
            Site.load(missing)


def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path):
    (tmp_path / "site.yml").mkdir()
    with pytest.raises(Refusal, match="is a folder"):
        Site.load(tmp_path)


def test_a_ring_of_links_is_refused(tmp_path):
    (tmp_path / "site.yml").symlink_to(tmp_path / "other.yml")
    (tmp_path / "other.yml").symlink_to(tmp_path / "site.yml")
    with pytest.raises(Refusal, match="cannot be read"):
        Site.load(tmp_path / "site.yml")
    with pytest.raises(Refusal, match="cannot be read"):
        Site.load(tmp_path)


def test_a_pipe_is_refused_before_it_is_waited_for(tmp_path):
    os.mkfifo(tmp_path / "site.yml")
    with pytest.raises(Refusal, match="no regular file"):
        Site.load(tmp_path)


def test_a_name_that_no_file_can_have_is_refused(tmp_path):
    for name in ("a\0b", "x" * 5_000):
        with pytest.raises(Refusal):
            Site.load(tmp_path / name)


def test_what_may_not_be_read_is_refused(tmp_path, monkeypatch):
    file = tmp_path / "site.yml"
    file.write_text("name: lab\n")

    def refuse(*_arguments, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.read_text", refuse)
    with pytest.raises(Refusal, match=r"cannot be read \(Permission denied\)"):
        Site.load(file)


def test_a_byte_order_mark_and_carriage_returns_change_nothing(tmp_path):
    text = "name: lab\nhosts:\n  - a\n  - b\n"
    plain_file, odd_file = tmp_path / "plain.yml", tmp_path / "odd.yml"
    plain_file.write_text(text)
    odd_file.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert read(plain_file).data == read(odd_file).data
    assert read(plain_file).lines == read(odd_file).lines


def test_places_know_their_lines_and_aliases_their_anchors(tmp_path):
    file = tmp_path / "site.yml"
    file.write_text("a: &one\n  - {x: 1}\n  - y\nb: *one\nc: {d: *one}\n")
    document = read(file)
    assert document.data == {"a": [{"x": 1}, "y"], "b": [{"x": 1}, "y"], "c": {"d": [{"x": 1}, "y"]}}
    assert [document.line(place) for place in (("a",), ("a", 0), ("a", 0, "x"), ("a", 1), ("b",))] == [1, 2, 2, 3, 4]
    assert document.line(("b", 0, "x")) == 4
    assert document.origin(("b", 0, "x")) == ("a", 0, "x")
    assert document.origin(("c", "d", 1)) == ("a", 1)
    assert document.line(("no", "such", "place")) == 1


def test_a_key_that_stands_twice_is_found_with_both_lines(tmp_path):
    file = tmp_path / "site.yml"
    file.write_text("a: [1, 2]\nb: 1\na:\n  - 3\n")
    document = read(file)
    assert [(each.place, each.line, each.first_line) for each in document.repeated] == [(("a",), 3, 1)]
    assert document.line(("a", 0)) == 4


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"), ("on", "on"), ("yes", "yes"), ("12:30:45", "12:30:45"), ("1_000", "1_000"),
        ("2026-11-29", "2026-11-29"), ("true", True), ("False", False), ("null", None), ("~", None), ("", None),
        ("12", 12), ("-3", -3), ("010", 10), ("0o17", 15), ("0x1F", 31), ("1.5", 1.5), ("1e3", 1000.0), (".5", 0.5),
        ("-.inf", float("-inf")), ("+7", 7), ("580.173.02", "580.173.02"), ("9" * 41, "9" * 41),
        ("0x" + "f" * 39, "0x" + "f" * 39), ("-", "-"), (".", "."), ("<<", "<<"),
    ],
)  # fmt: skip
def test_unquoted_words_mean_what_yaml_1_2_says(text, value):
    assert plain(text) == value
    assert type(plain(text)) is type(value)


def test_not_a_number_is_read_as_one():
    assert plain(".nan") != plain(".nan")
