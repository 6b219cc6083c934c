"""`rackwright env`: what a shell needs, and nothing secret in it."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.usefixtures("vault")
def test_a_shell_takes_it(rackwright, lab, vault, variables):
    odd = lab.rename(lab.with_name("a lab's folder"))
    result = rackwright("env", odd)
    assert result.returncode == 0, result.stderr
    script = 'cat "$PULUMI_CONFIG_PASSPHRASE_FILE"; echo; echo "$ANSIBLE_VAULT_PASSWORD_FILE"; type -p ansible'
    shell = subprocess.run(
        ["bash", "-c", f"{result.stdout}\n{script}"], env=variables, capture_output=True, text=True, check=True
    )
    passphrase, password_file, ansible = shell.stdout.splitlines()
    moved = type(vault).of(odd)
    values = moved.read()
    assert passphrase == values["pulumi_passphrase"]
    assert password_file == str(moved.password_file)
    assert ansible == str(Path(sys.executable).with_name("ansible"))
    assert not any(value in result.stdout + result.stderr for value in values.values())


@pytest.mark.usefixtures("vault")
def test_it_is_taken_back(rackwright, lab, variables):
    rackwright("env", lab)
    folder = Path(variables["XDG_RUNTIME_DIR"], "rackwright")
    assert len(list(folder.iterdir())) == 1
    result = rackwright("env", lab, "--end")
    assert result.stdout == "unset PULUMI_CONFIG_PASSPHRASE_FILE ANSIBLE_VAULT_PASSWORD_FILE\n"
    assert not list(folder.iterdir())


def test_without_a_vault_there_is_a_path_and_a_word(rackwright, lab):
    result = rackwright("env", lab)
    assert result.returncode == 0
    assert "export PATH=" in result.stdout
    assert "PASSPHRASE" not in result.stdout
    assert f"rackwright secrets init {lab} makes it" in result.stderr


def test_the_path_does_not_grow(rackwright, lab):
    first = rackwright("env", lab).stdout
    path = next(line for line in first.splitlines() if line.startswith("export PATH=")).removeprefix("export PATH=")
    assert rackwright("env", lab, PATH=path).stdout == first


def test_a_wrong_password_gives_no_exports(rackwright, lab, vault):
    vault.password_file.write_text("another-Password-4821\n")
    result = rackwright("env", lab)
    assert result.returncode == 1
    assert result.stdout == ""


@pytest.mark.usefixtures("vault")
@pytest.mark.parametrize(
    ("name", "encoding"),
    [("esc\x1b[31m", "utf-8"), ("latin\udcff", "utf-8"), ("two\nlines", "utf-8"), ("höhle", "ascii")],
)
def test_a_folder_whose_name_a_shell_would_not_get_is_refused(rackwright, lab, variables, name, encoding):
    folder = lab.rename(lab.with_name(name))
    result = rackwright("env", folder, PYTHONIOENCODING=f"{encoding}:surrogateescape")
    assert result.returncode == 1
    assert result.stdout == ""
    assert "do not reach a shell from here" in result.stderr
    assert not list(Path(variables["XDG_RUNTIME_DIR"]).iterdir())
