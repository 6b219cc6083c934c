"""A site's whole life by one command: a guest from an empty machine, phase 1, the rollout, the death of a node."""

import json
import shutil
import sys

import kept_python
import pytest
from played_world import ROOT

import rackwright.cli


@pytest.mark.guests
@pytest.mark.whole_rollout
@pytest.mark.usefixtures("_guests_can_boot")
def test_a_whole_life_from_an_empty_machine_to_the_death_of_a_node(toolbox, tmp_path, monkeypatch):
    """gpu-01 boots and is phase 1's by site.yml, twice; then phase 1, the rollout and a node's death on clusters."""
    assert toolbox["pulumi"]
    for name, value in kept_python.settings().items():
        monkeypatch.setenv(name, value)
    folder, out = tmp_path / "site", tmp_path / "out"
    shutil.copytree(ROOT / "inventory" / "lab", folder)
    text = (folder / "site.yml").read_text()
    (folder / "site.yml").write_text(text.replace("{hold_s: 900}", "{hold_s: 900, weights: [100]}"))
    with out.open("w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        code = rackwright.cli._run(["rollout", "rehearse", str(folder), "--hosts", "--host", "gpu-01", "--json"])
    told = json.loads(out.read_text())
    (booted,) = told["metal"]
    assert (booted["phase"], booted["playbook"], booted["succeeded"]) == (1, "playbooks/site.yml", True)
    assert booted["hosts"]["gpu-01"]["first"]["changed"] > 10
    assert booted["second_run"] == {"changes": {}, "failed": {}}
    assert booted["stand_ins"]
    assert booted["hosts"]["gpu-01"]["cannot_have"]
    assert (code, told["succeeded"], told["refused"], told["left"]) == (0, True, "", [])
    assert told["death"]["well"]
    assert list(told["seconds"])[:2] == ["metal of phase 1", "tools"]
