"""The command answers at once, since it imports nothing heavy to do so."""

import subprocess
import sys

import pytest

HEAVY = {"pulumi", "ansible", "yaml", "rich", "jinja2"}
LOADED = (
    "import sys; from rackwright.cli import main\n"
    "sys.argv = ['rackwright', *sys.argv[1:]]\n"
    "try: main()\n"
    "except SystemExit: pass\n"
    "print(' '.join(sorted(name for name in sys.modules if '.' not in name)), file=sys.stderr)"
)


def loaded(*arguments):
    result = subprocess.run([sys.executable, "-c", LOADED, *arguments], capture_output=True, text=True, check=True)
    return set(result.stderr.splitlines()[-1].split())


def test_help_loads_nothing_heavy():
    assert not loaded("--help") & (HEAVY | {"pydantic"})


@pytest.mark.parametrize("arguments", [("validate", "--help"), ("rehearse", "--help"), ("nonsense",)])
def test_help_of_a_command_loads_what_reads_its_arguments_at_most(arguments):
    assert not loaded(*arguments) & HEAVY


def test_validating_loads_no_pulumi_and_no_ansible():
    assert not loaded("validate", "inventory/lab") & {"pulumi", "ansible", "rich"}


def test_a_plan_of_a_rollout_loads_no_preflight_and_starts_no_program():
    """Who only reads does not wait for the versions of tools, which are asked of each by starting it."""
    watched = "import sys; sys.addaudithook(lambda event, _: sys.exit(event) if event == 'subprocess.Popen' else None)"
    script = "\n".join([watched, LOADED.replace(" if '.' not in name", "")])
    command = [sys.executable, "-c", script, "rollout", "plan", "inventory/lab"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    names = set(done.stderr.splitlines()[-1].split())
    assert not names & {"pulumi", "ansible", "rich", "httpx", "rackwright.preflight"}
    assert "Rollout of lab" in done.stdout


def test_help_names_every_command_and_exit_code(rackwright):
    result = rackwright("--help")
    assert result.returncode == 0
    for word in ("validate", "schema", "secrets", "env", "rehearse", "check", "tools", "Exit codes: 0"):
        assert word in result.stdout


def test_no_command_shows_the_help_and_is_wrong_usage(rackwright):
    for arguments in ((), ("secrets",)):
        result = rackwright(*arguments)
        assert result.returncode == 2
        assert "Usage: rackwright" in result.stderr


@pytest.mark.parametrize("command", ["validate", "schema", "env", "rehearse", "check", "tools", "secrets"])
def test_each_command_has_help(rackwright, command):
    result = rackwright(command, "--help")
    assert result.returncode == 0
    assert f"Usage: rackwright {command} " in result.stdout
