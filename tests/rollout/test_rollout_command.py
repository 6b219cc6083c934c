"""`rackwright rollout` as it is typed: with what is built today, and in a played world."""

import json
import os
import sys
from functools import partial

import pytest
from played_world import ROOT, PlayedAct

import rackwright.cli
from rackwright.errors import Refusal
from rackwright.rollout.lock import held
from rackwright.rollout.runner import Runner
from rackwright.secrets import throw_away


@pytest.fixture
def folder(tmp_path, world):
    (tmp_path / "site.yml").write_text((ROOT / "inventory" / "lab" / "site.yml").read_text())
    return world.folder


@pytest.fixture
def command(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", open(os.devnull))  # noqa: PTH123, SIM115 - nobody sits there

    def run(*arguments):
        code = rackwright.cli._run(["rollout", *map(str, arguments)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
def played(world, monkeypatch):
    """Where nobody but the test knows that the world is played."""
    monkeypatch.setattr("rackwright.rollout.built.live", lambda _: world.world)
    timeless = partial(Runner, sleep=world.clock.sleep, clock=world.clock)
    monkeypatch.setattr("rackwright.rollout.rollout.Runner", timeless)
    return world


def test_a_plan_is_made_of_the_file_alone(command, folder):
    code, out, _ = command("plan", folder)
    assert code == 0
    assert "the point of no return" in out
    assert "not built" not in out
    assert sorted(path.name for path in folder.iterdir()) == ["site.yml"]


def test_a_plan_as_data(command, folder):
    data = json.loads(command("plan", folder, "--json")[1])
    assert len(data["stages"]) == 11
    assert all(step["built"] for stage in data["stages"] for step in stage["steps"])


def test_a_whole_life_with_a_stop_an_override_and_a_report(command, folder, played):
    code, out, err = command("run", folder, "--yes", "--until", "copy")
    assert code == 0, err
    assert "5  copy        3 of 3 done" in out
    played.failing = {"recall"}
    code, _, err = command("run", folder, "--yes")
    assert code == 1
    assert "proof/queries stops at the gate recall: recall is worse than 17.5; wanted: well." in err
    assert "Stopped" in command("status", folder)[1]
    code, _, err = command("run", folder, "--yes", "--override", "recall")
    assert code == 1
    assert "no-return ends the way back, and nobody can be asked here." in err
    assert command("run", folder, "--yes", "--no-return", "lap")[0] == 1
    assert played.word("no-return/part") == ""
    code, out, err = command("run", folder, "--yes", "--no-return", "lab", "--json")
    assert code == 0, err
    assert json.loads(out)["next"] == ""
    assert json.loads(out)["overridden"]
    assert "Overridden: recall at proof/queries by " in command("status", folder)[1]
    _, out, _ = command("report", folder)
    assert "recall overridden: recall is worse than 17.5" in out
    code, _, err = command("back", folder, "--yes")
    assert code == 1
    assert "The point of no return was passed" in err


def test_back_says_its_steps_and_what_is_lost(command, folder, played):
    command("run", folder, "--yes", "--until", "stand-by")
    code, out, err = command("back", folder, "--yes", "--to", "copy")
    assert code == 0, err
    assert "cut-over/postgresql: the same the other way" in err
    assert "Lost by it: nothing." in err
    assert "7  traffic     0 of 4 done" in out
    assert played.word("copy/postgresql") == "done"


@pytest.mark.parametrize("name", ["lap", ""])
def test_another_sites_name_is_refused_before_the_first_step(command, folder, played, name):
    code, _, err = command("run", folder, "--yes", "--no-return", name)
    assert code == 1
    assert "and the site is lab; nothing was changed." in err
    assert "Write --no-return lab" in err
    assert not played.lines()


@pytest.mark.parametrize(
    ("words", "what", "cure"),
    [
        (("run", "--until", "copi"), "There is no stage copi.", "Did you mean copy? Stages: baseline, "),
        (("run", "--until", ""), "There is no stage without a name.", "Stages: baseline, "),
        (("back", "--to", "nowhere-near"), "There is no stage nowhere-near.", "Stages: baseline, "),
        (("run", "--override", "recal"), "There is no gate recal.", "Did you mean recall? Gates: "),
    ],
)
def test_a_name_that_there_is_not_is_told_with_those_that_there_are(command, folder, played, words, what, cure):
    act, *options = words
    code, _, err = command(act, folder, "--yes", *options)
    assert code == 1
    assert what in err
    assert f"\n{cure}" in err
    assert not played.lines()


def test_a_copied_folder_with_its_journal_is_told_apart(command, folder, played):
    assert command("run", folder, "--yes", "--until", "metal")[0] == 0
    file = folder / "site.yml"
    file.write_text(file.read_text().replace("name: lab\n", "name: second-lab\n", 1))
    done = played.lines()
    for words in (("status",), ("run", "--yes"), ("back", "--yes")):
        code, _, err = command(words[0], folder, *words[1:])
        assert code == 1
        assert "is of the site lab, and the file beside it names second-lab" in err
    assert played.lines() == done


def test_a_file_that_changes_while_it_runs_ends_it_before_the_next_step(command, folder, played, monkeypatch):
    file = folder / "site.yml"
    said = file.read_text()

    def edit(place):
        if place == "metal/provision":
            file.write_text(said.replace("hold_s: 900", "hold_s: 1000"))

    monkeypatch.setattr(PlayedAct, "do", lambda act, do=PlayedAct.do: (do(act), edit(act.name)))
    code, _, err = command("run", folder, "--yes", "--until", "platform")
    assert code == 1
    assert "site.yml was changed while this ran; nothing more was done." in err
    assert (played.word("metal/provision"), played.word("cluster/found")) == ("done", "")
    code, _, err = command("run", folder, "--yes", "--until", "platform")
    assert code == 0, err


def test_without_a_terminal_and_without_yes_it_is_wrong_usage(command, folder, played):
    assert command("run", folder)[0] == 2
    assert command("back", folder)[0] == 2
    assert not played.lines()


def test_a_second_operator_is_told(command, folder, played):
    with held(folder):
        code, _, err = command("run", folder, "--yes")
        assert code == 1
        assert "carries this rollout out" in err
        assert str(os.getpid()) in command("status", folder)[1]
    assert not played.lines()


def test_no_value_of_the_vault_comes_into_the_journal(command, folder, played):
    vault = throw_away(played.site, folder)
    canary = vault.read()["tenant_chat_key"]
    played.breaks = {"metal/provision": Refusal(f"Somebody says no to {canary}.", "Ask again.")}
    assert command("run", folder, "--yes")[0] == 1
    written = (folder / "rollout.jsonl").read_text()
    assert "Somebody says no to (a secret)." in written
    assert not [name for name, value in vault.read().items() if value in written]
    assert canary not in command("status", folder)[1] + command("report", folder, "--json")[1]
