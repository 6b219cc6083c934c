"""`rackwright secrets`: made once, extended, checked, shown on request."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import PATIENCE_S

PROGRAM = str(Path(sys.executable).with_name("rackwright"))
ACCESS, SECRET = "AKQ7Z2LM4TX8RV1B", "g7Kp2wQz9Lm4Tx8Rv1"
LINES = f"s3_access_key={ACCESS}\ns3_secret_key={SECRET}\n"


def test_init_makes_what_it_can_and_says_what_it_cannot(rackwright, lab):
    result = rackwright("secrets", "init", lab)
    assert result.returncode == 1
    assert f"{lab}/.vault-password is the vault's password, made now: keep a copy" in result.stderr
    assert "14 generated, 0 given, 0 kept, and 2 still missing" in result.stderr
    assert "RACKWRIGHT_SECRET_S3_ACCESS_KEY" in result.stderr
    assert rackwright("secrets", "check", lab).returncode == 1


def test_init_takes_the_rest_from_standard_input(rackwright, lab):
    rackwright("secrets", "init", lab)
    result = rackwright("secrets", "init", lab, "--stdin", stdin=LINES)
    assert result.returncode == 0, result.stderr
    assert "0 generated, 2 given, 14 kept." in result.stdout
    assert rackwright("secrets", "show", lab, "s3_secret_key").stdout == f"{SECRET}\n"
    assert "all 16 secrets" in rackwright("secrets", "check", lab).stdout


def test_init_takes_the_rest_from_the_environment(rackwright, lab):
    result = rackwright(
        "secrets", "init", lab, "--json",
        RACKWRIGHT_SECRET_S3_ACCESS_KEY=ACCESS, RACKWRIGHT_SECRET_S3_SECRET_KEY=SECRET,
    )  # fmt: skip
    answer = json.loads(result.stdout)
    assert answer["given"] == ["s3_access_key", "s3_secret_key"]
    assert ACCESS not in result.stdout + result.stderr


def test_init_asks_at_a_terminal_and_echoes_nothing(lab, variables):
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [PROGRAM, "secrets", "init", lab], stdin=follower, stdout=follower, stderr=follower,
        env=variables, start_new_session=True,
    )  # fmt: skip
    os.close(follower)
    shown = b""
    for prompt, answer in ((b"s3_access_key (", ACCESS), (b"s3_secret_key (", SECRET), (b"2 given", "")):
        while prompt not in shown:
            shown += os.read(leader, 4096)
        os.write(leader, f"{answer}\n".encode())
    assert process.wait(PATIENCE_S) == 0
    os.close(leader)
    assert ACCESS.encode() not in shown
    assert SECRET.encode() not in shown


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            f"s3_acces_key={ACCESS}",
            "Line 1 of standard input names no secret of this site.\nDid you mean s3_acc",
        ),
        (f"\n{ACCESS}", "Line 1 of standard input is not NAME=VALUE."),
        ("s3_secret_key=minioadmin", "s3_secret_key is a well-known value."),
    ],
)
def test_lines_that_are_wrong_write_nothing_and_are_not_repeated(rackwright, lab, lines, said):
    result = rackwright("secrets", "init", lab, "--stdin", stdin=lines)
    assert result.returncode == 1
    assert said in result.stderr
    assert ACCESS not in result.stderr
    assert not (lab / "group_vars" / "all" / "secrets.yml").exists()


@pytest.mark.usefixtures("vault")
def test_a_second_init_changes_nothing(rackwright, lab):
    before = (lab / "group_vars" / "all" / "secrets.yml").read_bytes()
    assert "0 generated, 0 given, 16 kept." in rackwright("secrets", "init", lab).stdout
    assert (lab / "group_vars" / "all" / "secrets.yml").read_bytes() == before


def test_init_of_a_broken_site_makes_nothing(rackwright, broken):
    assert rackwright("secrets", "init", broken).returncode == 1
    assert sorted(path.name for path in broken.iterdir()) == ["site.yml"]


def test_check_names_what_is_there_and_never_shows_it(rackwright, lab, vault):
    result = rackwright("secrets", "check", lab, "--json")
    answer = json.loads(result.stdout)
    assert answer["succeeded"]
    assert {"name": "k3s_token", "purpose": "Lets a server join the k3s cluster."} in answer["secrets"]
    assert not any(value in result.stdout for value in vault.read().values())


def test_check_tells_every_fault_as_json(rackwright, lab, vault):
    vault.write({"grafana_admin_pasword": "g7Kp2wQz9Lm4Tx8Rv1"})
    answer = json.loads(rackwright("secrets", "check", lab, "--json").stdout)
    assert not answer["succeeded"]
    assert len(answer["faults"]) == 17
    assert {"name", "what", "cure"} == set(answer["faults"][0])


def test_show_prints_the_value_alone(rackwright, lab, vault):
    result = rackwright("secrets", "show", lab, "tenant_chat_key")
    assert result.stdout == f"{vault.read()['tenant_chat_key']}\n"
    assert result.stderr == ""


@pytest.mark.usefixtures("vault")
def test_show_knows_the_nearest_name(rackwright, lab):
    result = rackwright("secrets", "show", lab, "tenant_chat")
    assert result.returncode == 1
    assert result.stderr == "The vault has no secret tenant_chat.\nDid you mean tenant_chat_key?\n"


@pytest.mark.parametrize("command", [("check",), ("show", "k3s_token")])
def test_a_site_without_a_vault(rackwright, lab, command):
    name, *rest = command
    result = rackwright("secrets", name, lab, *rest)
    assert result.returncode == 1
    assert f"rackwright secrets init {lab} makes it." in result.stderr
