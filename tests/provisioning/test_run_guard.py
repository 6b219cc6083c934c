"""A playbook that would do nothing for anybody is refused: no site was read, or none of its hosts is meant."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLAYBOOKS = sorted((ROOT / "playbooks").glob("*.yml"))
ANSWERS = [
    "-e",
    "confirm=lab",
    "-e",
    "reset_hosts=gpu-01",
    "-e",
    "upgrade=driver",
    "-e",
    "node=gpu-01",
    "-e",
    "act=add",
]


def started(folder, *arguments, **settings):
    program = Path(sys.executable).with_name("ansible-playbook")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
    return subprocess.run(
        [program, *arguments],
        cwd=folder,
        env={**environment, "HOME": str(folder), **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def is_refused(done, folder, playbook):
    assert done.returncode == 1, done.stdout
    assert not done.stdout.strip()  # no play has begun, and nobody was asked
    assert "Traceback" not in done.stderr
    (words,) = [line for line in done.stderr.splitlines() if line.startswith("[ERROR]")]
    assert f"No site was read, and nothing was touched: Ansible was started in {folder}" in words
    assert f"cd {ROOT} && ansible-playbook -i inventory/<site> playbooks/{playbook}" in words
    return True


@pytest.mark.parametrize("playbook", PLAYBOOKS, ids=lambda each: each.stem)
def test_a_playbook_ends_before_its_first_play_and_says_where_it_is_to_be_started(tmp_path, playbook):
    assert is_refused(started(tmp_path, "-i", ROOT / "inventory/lab", playbook, *ANSWERS), tmp_path, playbook.name)


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        (["-i", ROOT / "inventory/lab", "--limit", "gpu-01"], {}),
        (["-i", ROOT / "inventory/lab", "--check"], {}),
        ([], {}),
        (["-i", "localhost,"], {}),
        (["-i", ROOT / "inventory/lab"], {"ANSIBLE_CONFIG": "mine.cfg"}),
    ],
    ids=["limited", "dry", "without a site", "on another inventory", "with settings of one's own"],
)
def test_so_does_one_that_was_started(tmp_path, arguments, settings):
    (tmp_path / "mine.cfg").write_text("[defaults]\nforks = 5\n")
    near = os.path.relpath(ROOT / "playbooks/reset.yml", tmp_path)  # it is found by any name of its folder
    assert is_refused(started(tmp_path, near, *arguments, *ANSWERS, **settings), tmp_path, "reset.yml")


@pytest.mark.parametrize("strategy", ["free", "ansible.builtin.host_pinned"])
def test_hosts_that_would_run_ahead_of_one_another_are_refused(strategy):
    done = started(ROOT, "-i", "inventory/lab", "playbooks/preflight.yml", ANSIBLE_STRATEGY=strategy)
    assert done.returncode == 1
    assert not done.stdout.strip()
    assert f"by the strategy {strategy} hosts do not wait for one another" in done.stderr


def test_a_playbook_of_ones_own_is_not_ours_to_refuse(tmp_path):
    (tmp_path / "mine.yml").write_text("[{name: Mine, hosts: nobody, gather_facts: false}]")
    told = {"ANSIBLE_CALLBACK_PLUGINS": str(ROOT / "playbooks/callback_plugins")}
    assert started(tmp_path, "-i", "localhost,", "mine.yml", **told).returncode == 0


class TestANodeOrALimitThatIsNotMeant:
    """The root of the checkout, and a real sample: each is refused before a machine is asked."""

    @pytest.mark.parametrize(
        ("playbook", "arguments", "words"),
        [
            ("k3s", ["-i", "inventory/lab", "--limit", "agents-01"], "no play of playbooks/k3s.yml has a host here"),
            ("kubernetes", ["-i", "inventory/example"], "phase 1 has hgx-01; phase 2 has none"),
            ("provision", ["-i", "inventory/lab", "--limit", "nobody"], "no hosts to target"),
            (
                "reset",
                ["-i", "inventory/lab", "-i", "gpu-09,"],
                "Nothing was touched: gpu-09 came from another inventory",
            ),
            ("reset", ["-i", "inventory/lab", "--limit", "gpu-02"], "there are gpu-02; you named gpu-01"),
            ("node", ["-i", "inventory/lab", "--limit", "gpu-01,control-01"], "No --limit is taken"),
            ("site", ["-i", "inventory/lab"], f"rackwright secrets init {ROOT}/inventory/lab makes it"),
        ],
    )
    def test_ends_with_a_sentence(self, tmp_path, playbook, arguments, words):
        done = started(ROOT, *arguments, f"playbooks/{playbook}.yml", *ANSWERS, ANSIBLE_HOME=str(tmp_path))
        assert done.returncode != 0, done.stdout
        assert words in " ".join((done.stderr + done.stdout).split())
        assert "changed=1" not in done.stdout
