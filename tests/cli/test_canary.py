"""A planted secret is found nowhere: not in an argument list, not in output, not on disk."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rackwright.secrets import Vault, throw_away
from rackwright.site.site import Site

GIVEN = "g7Kp2wQz9Lm4Tx8Rv1given"


@contextmanager
def watched() -> Iterator[set[bytes]]:
    """Every argument list that any process has while this is open."""
    seen: set[bytes] = set()
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.005):
            for process in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    seen.add(process.read_bytes())
                except OSError:
                    continue

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield seen
    finally:
        done.set()
        watcher.join()


@pytest.fixture
def planted(lab: Path) -> tuple[Vault, set[str]]:
    vault = throw_away(Site.load(lab), lab)
    values = vault.read()
    return vault, set(values.values()) | {vault.password_file.read_text().strip(), GIVEN}


def test_no_command_lets_a_secret_out(rackwright, lab, planted, tmp_path, variables):
    vault, canaries = planted
    ansible_variables = {"ANSIBLE_VERBOSITY": "5", "ANSIBLE_LOG_PATH": str(tmp_path / "ansible.log")}
    values = vault.read()
    given = values.pop("s3_secret_key")
    vault.write(values)
    said = ""
    with watched() as arguments:
        for command, stdin in (
            (("validate", lab), ""),
            (("validate", lab, "--json"), ""),
            (("secrets", "check", lab), ""),
            (("secrets", "init", lab, "--stdin"), f"s3_secret_key={GIVEN}\n"),
            (("secrets", "check", lab, "--json"), ""),
            (("secrets", "show", lab, "nonsense"), ""),
            (("env", lab), ""),
        ):
            result = rackwright(*command, stdin=stdin, RACKWRIGHT_TRACEBACK="1", **ansible_variables)
            said += result.stdout + result.stderr
        said += _with_things_broken(rackwright, lab, vault)
    assert any(b"secrets\0check" in command for command in arguments), "the watcher saw nothing"
    for canary in canaries | {given}:
        assert canary not in said
        assert not any(canary.encode() in command for command in arguments)
    _nothing_on_disk(tmp_path, vault, canaries, Path(variables["XDG_RUNTIME_DIR"]))


def _with_things_broken(rackwright, lab: Path, vault: Vault) -> str:
    said = ""
    whole, password = vault.file.read_bytes(), vault.password_file.read_text()
    for file, text in (
        (vault.file, whole[:-300]),
        (vault.file, b""),
        (vault.password_file, b"another-Password-4821\n"),
        (vault.password_file, b""),
    ):
        file.write_bytes(text)
        for command in ("check", "init"):
            result = rackwright("secrets", command, lab, RACKWRIGHT_TRACEBACK="1")
            assert result.returncode == 1
            assert "Traceback" not in result.stderr
            said += result.stdout + result.stderr
        vault.file.write_bytes(whole)
        vault.password_file.write_text(password)
    return said


def _nothing_on_disk(folder: Path, vault: Vault, canaries: set[str], memory: Path) -> None:
    assert GIVEN in vault.read().values()
    for file in folder.rglob("*"):
        if file.is_file() and file != vault.password_file and not file.is_relative_to(memory):
            text = file.read_bytes()
            assert not any(canary.encode() in text for canary in canaries), file
