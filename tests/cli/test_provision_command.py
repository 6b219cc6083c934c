"""The commands that change machines, with an Ansible that says what was recorded: no machine is asked."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import rackwright.cli

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(sys.executable).with_name("rackwright")
PLAYED = """\
#!{python}
import json, os, sys
here = {here!r}
arguments = sys.argv[1:]
told = json.loads(arguments[arguments.index("-e") + 1])
with open(here + "/asked.json", "w") as file:
    json.dump({{"arguments": arguments, "told": told}}, file)
recorded = json.load(open(here + "/recorded.json"))
for event in recorded["events"]:
    os.write(int(os.environ["RACKWRIGHT_EVENTS"]), (json.dumps(event) + "\\n").encode())
for name, report in recorded.get("reports", {{}}).items():
    json.dump(report, open(told[name], "w"))
print(recorded.get("said", ""))
sys.exit(recorded["code"])
"""
OK = {"ok": 5, "changed": 0, "failures": 0, "unreachable": 0}


def event(host, kind, task="Install the driver", words=""):
    return {"host": host, "kind": kind, "task": task, "words": words}


@pytest.fixture
def ansible(tmp_path, monkeypatch):
    """Plays a recorded run, and keeps what it was asked."""
    program = tmp_path / "bin" / "ansible-playbook"
    program.parent.mkdir()
    program.write_text(PLAYED.format(python=sys.executable, here=str(tmp_path)))
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program.with_name("python")))
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "stdin", open(os.devnull))  # noqa: PTH123, SIM115 - nobody sits there

    def record(code=0, events=(), **more):
        (tmp_path / "recorded.json").write_text(json.dumps({"code": code, "events": list(events), **more}))
        return lambda: json.loads((tmp_path / "asked.json").read_text()) if (tmp_path / "asked.json").exists() else None

    return record


@pytest.fixture
def command(capsys):
    def run(*arguments):
        code = rackwright.cli._run([str(each) for each in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_a_plan_then_a_run_then_a_table(ansible, command, lab):
    asked = ansible(0, [{"play": "Provision"}, {"task": "Mount"}, {"stats": {"gpu-01": OK | {"changed": 2}}}])
    code, out, err = command("provision", lab, "--yes")
    assert code == 0
    assert (
        out.index("Provision: lab, phase 1: gpu-01.") < out.index("unreachable") < out.index("1 host done, 1 changed.")
    )
    assert "== Provision" in err
    assert "Mount" in err
    assert asked()["arguments"][2] == "playbooks/site.yml"
    assert "--limit" not in asked()["arguments"]
    assert asked()["told"]["phase"] == 1


def test_a_limit_and_a_dry_run_are_passed_on(ansible, command, lab):
    asked = ansible(0, [{"stats": {"gpu-02": OK}}])
    code, _, _ = command("provision", lab, "--phase", "2", "--limit", "gpu-02", "--check")
    assert code == 0
    assert asked()["arguments"][-3:] == ["--check", "--limit", "gpu-02"]


def test_without_a_terminal_and_without_yes_it_is_wrong_usage_after_the_plan(ansible, command, lab):
    asked = ansible()
    code, out, err = command("provision", lab)
    assert code == 2
    assert "Know:" in out
    assert "add --yes" in err
    assert asked() is None
    code, out, _ = command("node", "add", lab, "gpu-02", "--phase", "2", "--json")
    assert code == 2
    assert json.loads(out)["plan"]["hosts"] == ["gpu-02"]


def test_each_host_that_went_wrong_is_told_with_its_task_words_and_cure(ansible, command, lab):
    events = [
        event("gpu-01", "failed", "Hold the packages", "E: held by somebody\x1b[31m"),
        event("gpu-02", "unreachable", "Ask everything at once", "ssh: connect to host: Connection timed out"),
        event("gpu-03", "failed", "Name it", "Incorrect sudo password"),
        event("train-01", "failed", "Try it", "rescued afterwards"),
        {
            "stats": {
                "gpu-01": OK | {"failures": 1},
                "gpu-02": OK | {"unreachable": 1},
                "gpu-03": OK | {"failures": 1},
                "train-01": OK,
            }
        },
    ]
    ansible(2, events)
    code, out, err = command("provision", lab, "--phase", "2", "--yes", "--json")
    assert code == 1
    data = json.loads(out)
    hosts = {each["name"]: each for each in data["hosts"]}
    assert hosts["gpu-01"]["task"] == "Hold the packages"
    assert "power" in hosts["gpu-02"]["cure"]
    assert "ansible_become_password" in hosts["gpu-03"]["cure"]
    assert "cure" not in hosts["train-01"]
    assert "control-01" in data["not_reached"]
    assert "ansible-playbook -i" in err
    code, out, _ = command("provision", lab, "--phase", "2", "--yes")
    assert code == 1
    assert "gpu-01  Hold the packages: E: held by somebody?[31m." in out
    assert "control-03      not begun" in out
    assert "3 hosts of 8 went wrong, 0 changed. Mend that and run the same command again" in out


def test_a_file_that_is_changed_while_its_plan_is_looked_at_is_not_carried_out(ansible, command, lab, monkeypatch):
    def confirm(*_, **__):
        file = lab / "site.yml"
        file.write_text(file.read_text() + "# another operator was here\n")
        return True

    asked = ansible()
    monkeypatch.setattr("typer.confirm", confirm)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    code, _, err = command("provision", lab, "--phase", "1")
    assert code == 1
    assert "site.yml was changed while this plan was looked at; nothing was done." in err
    assert asked() is None


def test_hosts_of_another_phase_that_are_stepped_over_are_not_in_the_table(ansible, command, lab):
    stats = {"gpu-01": OK | {"failures": 1}, "gpu-02": dict.fromkeys(OK, 0), "control-02": OK}
    ansible(2, [event("gpu-01", "failed", "Judge", "1 host forbids"), {"stats": stats}])
    code, out, _ = command("provision", lab, "--phase", "1", "--yes")
    assert code == 1
    assert "gpu-02" not in out
    assert "control-02" in out  # of no host of the plan, and asked for it
    assert "1 host of 2 went wrong, 0 changed." in out


def test_what_preflight_forbids_is_shown_in_its_own_words(ansible, command, lab):
    verdict = {"text": "gpu-01  forbids   has swap", "data": {"succeeded": False, "summary": "1 host forbids"}}
    stats = {"stats": {"gpu-01": OK | {"failures": 1}}}
    events = [event("gpu-01", "failed", "Judge what they answered", "1 host forbids"), stats]
    ansible(2, events, reports={"preflight_report": verdict})
    code, out, _ = command("provision", lab, "--yes")
    assert code == 1
    assert "gpu-01  forbids   has swap" in out


def test_a_run_that_came_to_no_host_is_one_sentence(ansible, command, lab):
    ansible(4, said="[ERROR]: the inventory is broken")
    code, out, err = command("provision", lab, "--yes")
    assert code == 1
    assert "Ansible ended with 4 before it came to a host: [ERROR]: the inventory is broken" in err
    assert "nothing was changed" in err
    assert "Traceback" not in out + err


def test_a_vault_that_does_not_open_ends_it_before_anything_starts(ansible, command, lab, vault):
    asked = ansible()
    vault.password_file.write_text("another\n")
    code, _, err = command("provision", lab, "--yes")
    assert code == 1
    assert str(vault.file) in err
    assert asked() is None


@pytest.mark.parametrize(
    ("arguments", "playbook", "told"),
    [
        (
            ("node", "replace", "gpu-02", "--phase", "2", "--dead"),
            "node",
            {"act": "replace", "dead": True, "confirm": "gpu-02"},
        ),
        (("upgrade", "hosts", "--driver", "--phase", "2"), "upgrade", {"upgrade": "driver", "confirm": "lab"}),
        (("upgrade", "hosts", "--kubernetes"), "upgrade", {"upgrade": "kubernetes", "phase": 1}),
        (("reset", "gpu-02", "--phase", "2"), "reset", {"reset_hosts": "gpu-02", "reset_drives": "", "confirm": "lab"}),
    ],
)
def test_each_command_tells_its_playbook_what_was_agreed_to(ansible, command, lab, arguments, playbook, told):
    asked = ansible(0, [{"stats": {"gpu-02": OK}}])
    words = [*arguments[:1], lab, *arguments[1:]] if playbook == "reset" else [*arguments[:2], lab, *arguments[2:]]
    code, _, err = command(*words, "--yes")
    assert code == 0, err
    assert asked()["arguments"][2] == f"playbooks/{playbook}.yml"
    assert asked()["told"].items() >= told.items()


@pytest.mark.parametrize("words", [("upgrade", "hosts"), ("upgrade", "hosts", "--driver", "--kubernetes")])
def test_one_thing_is_upgraded_at_a_time(ansible, command, lab, words):
    ansible()
    assert command(*words[:2], lab, *words[2:], "--yes")[0] == 2


def test_stopped_it_says_that_the_same_command_goes_on(ansible, lab, monkeypatch, capsys):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    ansible()
    monkeypatch.setattr("rackwright.playbook.run", stopped)
    assert rackwright.cli._run(["provision", str(lab), "--yes"]) == 130
    assert "The same command goes on where this one stopped." in capsys.readouterr().err


def test_at_a_terminal_it_asks_and_no_changes_nothing(lab, variables):
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [PROGRAM, "provision", lab], cwd=ROOT, stdin=follower, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env=variables,
    )  # fmt: skip
    os.close(follower)
    os.write(leader, b"n\n")
    _, err = process.communicate(timeout=60)
    os.close(leader)
    assert process.returncode == 1
    assert "Go on?" in err
    assert "Nothing was changed." in err
