"""A file is written whole or not at all, and nobody else reads it."""

import os
import stat
import subprocess
import sys

import pytest

from rackwright.errors import Refusal
from rackwright.secrets import private_file


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"before")
    path.chmod(0o644)
    return path


def test_it_is_the_owners_whatever_the_mask(file):
    before = os.umask(0)
    try:
        private_file.write(file, b"after")
    finally:
        os.umask(before)
    assert file.read_bytes() == b"after"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_disk_that_is_full_keeps_what_was_there(file):
    code = (
        "import resource, sys; from pathlib import Path; from rackwright.errors import Refusal\n"
        "from rackwright.secrets import private_file\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))\n"  # the nearest that a test may come to a full disk
        "try: private_file.write(Path(sys.argv[1]), b'x' * 100)\n"
        "except Refusal as refusal: sys.exit(refusal.what)"
    )
    result = subprocess.run([sys.executable, "-c", code, file], capture_output=True, text=True, check=False)
    assert "cannot be written (File too large)" in result.stderr
    assert file.read_bytes() == b"before"
    assert list(file.parent.iterdir()) == [file]


def test_a_link_stays_a_link(file):
    link = file.with_name("link")
    link.symlink_to(file)
    private_file.write(link, b"after")
    assert link.is_symlink()
    assert file.read_bytes() == b"after"


def test_create_never_replaces(file):
    with pytest.raises(Refusal, match="cannot be written"):
        private_file.create(file, b"after")
    assert file.read_bytes() == b"before"
    assert list(file.parent.iterdir()) == [file]


def test_a_folder_that_cannot_be_made(file):
    with pytest.raises(Refusal, match="cannot be written"):
        private_file.write(file / "below" / "file", b"x")
