"""The journal on a drive: torn lines, order of writes, secrets, clocks, full drives."""

import errno
import json
import os
from datetime import datetime

import pytest

from rackwright.errors import Refusal
from rackwright.rollout.journal import FILE_NAME, Journal, read


@pytest.fixture(name="journal")
def three_lines(tmp_path):
    found = Journal(tmp_path)
    for number in range(3):
        found.append("begun", f"stage/step-{number}", inputs={"a part": "0123456789ab"})
    return found


def test_a_line_is_read_as_it_was_written(journal, tmp_path):
    assert read(tmp_path) == journal.entries
    assert [entry.n for entry in read(tmp_path)] == [1, 2, 3]
    assert json.loads((tmp_path / FILE_NAME).read_text().splitlines()[0])["format"] == 1


@pytest.mark.usefixtures("journal")
def test_a_last_line_that_was_cut_off_anywhere_is_as_if_it_had_not_been_begun(tmp_path):
    file = tmp_path / FILE_NAME
    whole = file.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    for size in range(last, len(whole)):
        file.write_bytes(whole[:size])
        assert [entry.n for entry in read(tmp_path)] == [1, 2]
        again = Journal(tmp_path)
        again.append("done", "stage/step-9")
        assert [(entry.n, entry.step) for entry in read(tmp_path)][2:] == [(3, "stage/step-9")]
        file.write_bytes(whole)


@pytest.mark.usefixtures("journal")
def test_a_line_in_the_middle_that_is_not_what_was_written_is_refused(tmp_path):
    file = tmp_path / FILE_NAME
    lines = file.read_text().splitlines(keepends=True)
    for broken in ([lines[0], lines[2]], [lines[0], "{}\n", lines[2]], [lines[0], "half a li\n", lines[2]], ["[]\n"]):
        file.write_text("".join(broken))
        with pytest.raises(Refusal, match=r"Line \d of the journal"):
            read(tmp_path)
        with pytest.raises(Refusal, match=r"Line \d of the journal"):
            Journal(tmp_path)


WORDS = '"at": "2026-01-01", "by": "me@here:1"'


@pytest.mark.parametrize(
    "line",
    [
        '{"n": true, "event": "done"}',
        '{"n": 1.0, "event": "done"}',
        '{"n": 1}',
        '{"n": 1, "at": 3, "event": "done", "step": "a/b"}',
        '{"n": 1, "event": "done", "step": {}}',
        '{"n": 1, "event": ["done"], "step": "a/b"}',
        f'{{"n": 1, {WORDS}, "event": "gate", "step": "a/b"}}',
        f'{{"n": 1, {WORDS}, "event": "gate", "step": "a/b", "gate": "g", "passed": "no", "seen": "1", "wanted": "2"}}',
        f'{{"n": 1, {WORDS}, "event": "done", "step": "a/b", "overridden": true}}',
        f'{{"n": 1, {WORDS}, "event": "done", "step": "a/b", "took_s": "long"}}',
        f'{{"n": 1, {WORDS}, "event": "done", "step": "a/b", "inputs": ["name"]}}',
        f'{{"n": 1, {WORDS}, "event": "run", "format": "new"}}',
        "[" * 100_000,
        "<<<<<<< HEAD",
    ],
)
def test_a_line_of_another_form_is_refused_and_left(tmp_path, line):
    (tmp_path / FILE_NAME).write_text(line + "\n")
    with pytest.raises(Refusal, match="Line 1 of the journal"):
        read(tmp_path)
    assert (tmp_path / FILE_NAME).read_text() == line + "\n"


def test_a_journal_that_came_along_with_a_copied_folder_is_refused(tmp_path):
    Journal(tmp_path, site="lab").append("run")
    assert read(tmp_path, "lab")[0].data["site"] == "lab"
    for use in (lambda: read(tmp_path, "lab-2"), lambda: Journal(tmp_path, site="lab-2")):
        with pytest.raises(Refusal, match="is of the site lab, and the file beside it names lab-2"):
            use()
    assert [entry.n for entry in read(tmp_path)] == [1]  # whoever only tells the story may


def test_a_journal_from_before_the_site_was_written_into_it_is_taken(tmp_path):
    Journal(tmp_path).append("run")
    Journal(tmp_path, site="lab").append("run")
    assert [entry.n for entry in read(tmp_path, "lab")] == [1, 2]


def test_a_pipe_in_its_place_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / FILE_NAME)
    with pytest.raises(Refusal, match="it is no plain file") as refused:
        read(tmp_path)
    assert "plain file of yours" in refused.value.cure


def test_a_journal_of_a_newer_rackwright_is_left_alone(tmp_path):
    (tmp_path / FILE_NAME).write_text('{"n": 1, "event": "run", "format": 2}\n')
    with pytest.raises(Refusal, match="newer Rackwright"):
        Journal(tmp_path)


def test_a_line_is_on_the_drive_before_anybody_goes_on(tmp_path, monkeypatch):
    done = []
    real = {name: getattr(os, name) for name in ("pwrite", "fsync")}

    def watched(name):
        def call(descriptor, *rest):
            kind = "folder" if os.path.isdir(f"/proc/self/fd/{descriptor}") else "file"  # noqa: PTH112 - a descriptor
            done.append((name, kind))
            return real[name](descriptor, *rest)

        return call

    for name in real:
        monkeypatch.setattr(os, name, watched(name))
    journal = Journal(tmp_path)
    journal.append("begun", "a/b")
    assert done == [("pwrite", "file"), ("fsync", "file"), ("fsync", "folder")]
    done.clear()
    journal.append("done", "a/b")
    assert done == [("pwrite", "file"), ("fsync", "file")]


def test_a_secret_that_comes_into_a_word_does_not_come_into_the_file(tmp_path):
    canary = "canary-7f3a9c1e"
    journal = Journal(tmp_path, hidden=[canary, "db", "a-longer-canary-7f3a9c1e"])
    journal.append("stopped", why=f"could not log in with {canary}", seen=[f"x{canary}y", {"deep": canary}], db="db")
    journal.append("gate", "a/b", seen="a-longer-canary-7f3a9c1e")
    text = (tmp_path / FILE_NAME).read_text()
    assert "canary" not in text
    assert "could not log in with (a secret)" in text
    assert '"db": "db"' in text  # so short a word is in every text


def test_a_clock_that_jumps_changes_no_order(tmp_path, monkeypatch):
    class Jumping:
        def __init__(self):
            self.years = iter((2026, 1999, 2040))

        def now(self, zone):
            return datetime(next(self.years), 1, 1, tzinfo=zone)

    monkeypatch.setattr("rackwright.rollout.journal.datetime", Jumping())
    journal = Journal(tmp_path)
    for event in ("begun", "done", "taken back"):
        journal.append(event, "a/b")
    assert [(entry.n, entry.at[:4], entry.event) for entry in read(tmp_path)] == [
        (1, "2026", "begun"), (2, "1999", "done"), (3, "2040", "taken back"),
    ]  # fmt: skip


@pytest.mark.parametrize("written", [0, 7])
def test_a_full_drive_is_said_and_leaves_no_half_line(journal, tmp_path, monkeypatch, written):
    real = os.pwrite

    def full(descriptor, data, offset):
        if written:
            return real(descriptor, data[:written], offset)
        raise OSError(errno.ENOSPC, "No space left on device")

    before = (tmp_path / FILE_NAME).read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", full)
        with pytest.raises(Refusal, match=r"cannot be written \((no|No) space"):
            journal.append("begun", "a/b")
    assert (tmp_path / FILE_NAME).read_bytes() == before
    journal.append("begun", "a/b")
    assert [entry.n for entry in read(tmp_path)] == [1, 2, 3, 4]


def test_a_link_in_its_place_is_not_followed(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("")
    (tmp_path / FILE_NAME).symlink_to(elsewhere)
    with pytest.raises(Refusal, match=r"cannot be read \(it is a link\)"):
        Journal(tmp_path).append("run")
    assert elsewhere.read_text() == ""
