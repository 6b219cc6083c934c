"""The real engine with our language host: programs that end well, that fail, and engines that go away."""

import os
import signal
import subprocess
import textwrap
from pathlib import Path

import pytest
from waiting import PATIENCE_S, until

from rackwright.errors import Refusal
from rackwright.language_host import explain

PROJECT = """
name: trial
runtime: {name: python, options: {toolchain: pip, virtualenv: .venv}}
main: stacks
stackConfigDir: stacks
"""


@pytest.fixture
def environment(toolbox, tmp_path):
    """As the rehearsal has it: a backend and a home of its own."""
    (tmp_path / "state").mkdir()
    return {
        **os.environ,
        **toolbox.environment(),
        "PULUMI_BACKEND_URL": f"file://{tmp_path}/state",
        "PULUMI_HOME": str(tmp_path / "pulumi"),
        "PULUMI_CONFIG_PASSPHRASE": "only for this test",
    }


@pytest.fixture
def pulumi(toolbox, tmp_path, environment):
    """Run pulumi on a program."""
    project = tmp_path / "project"
    (project / "stacks").mkdir(parents=True)
    (project / "Pulumi.yaml").write_text(PROJECT)

    def run(program: str, *arguments: str) -> subprocess.CompletedProcess:
        (project / "stacks" / "__main__.py").write_text(textwrap.dedent(program))
        command = [toolbox["pulumi"].path, *arguments, "--stack", "phase1", "--non-interactive"]
        return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)

    done = run("", "stack", "init")
    assert done.returncode == 0, done.stderr
    return run


def test_a_program_runs_with_its_configuration_its_neighbours_and_this_interpreter(pulumi, tmp_path):
    (tmp_path / "project" / "stacks" / "neighbour.py").write_text("value = 'from beside'\n")
    assert pulumi("", "config", "set", "plain", "1").returncode == 0
    assert pulumi("", "config", "set", "--secret", "hidden", "canary").returncode == 0
    program = """
        import sys
        import neighbour, pulumi
        config = pulumi.Config()
        pulumi.export("plain", config.require_int("plain"))
        pulumi.export("hidden", config.require_secret("hidden"))
        pulumi.export("beside", neighbour.value)
        pulumi.export("python", sys.executable)
        pulumi.export("stack", f"{pulumi.get_organization()}/{pulumi.get_project()}/{pulumi.get_stack()}")
        pulumi.export("preview", pulumi.runtime.is_dry_run())
        pulumi.export("root", pulumi.get_root_directory())
    """
    up = pulumi(program, "up", "--yes")
    assert up.returncode == 0, up.stdout + up.stderr
    assert "canary" not in up.stdout + up.stderr
    said = pulumi(program, "stack", "output", "--json").stdout
    for expected in ('"plain": 1', '"from beside"', "organization/trial/phase1", '"preview": false', "/bin/python"):
        assert expected in said, said
    assert str(tmp_path / "project") in said
    assert "canary" not in said
    for state in (tmp_path / "state").rglob("*.json"):
        assert "canary" not in state.read_text()
    assert pulumi(program, "preview", "--expect-no-changes").returncode == 0


@pytest.mark.parametrize(
    "program",
    [
        'raise Refusal("The cluster is not this site\'s.", "Name the right kubeconfig.")',
        'pulumi.export("x", pulumi.Output.from_input(1).apply(refuse))',
    ],
)
def test_a_refusal_is_two_sentences_and_no_traceback(pulumi, program):
    head = """
import pulumi
from rackwright.errors import Refusal

def refuse(_):
    raise Refusal("The cluster is not this site's.", "Name the right kubeconfig.")

"""
    done = pulumi(head + program, "preview")
    said = done.stdout + done.stderr
    assert done.returncode
    assert "error: The cluster is not this site's." in said
    assert "Name the right kubeconfig." in said
    assert "Traceback" not in said


def test_a_fault_of_the_program_is_shown_from_its_own_first_line_on_and_once(pulumi):
    done = pulumi("def deep():\n    return 1 / 0\n\n\ndeep()\n", "preview")
    said = done.stdout + done.stderr
    assert done.returncode
    assert said.count("ZeroDivisionError: division by zero") == 1
    assert "runpy" not in said
    assert "language_host.py" not in said


@pytest.mark.parametrize(
    "program", ["def (", "import no_such_module", "raise SystemExit(3)", "raise KeyboardInterrupt"]
)
def test_however_a_program_fails_the_engine_hears_of_it(pulumi, program):
    done = pulumi(program, "preview")
    assert done.returncode
    assert "error:" in done.stdout + done.stderr


def test_a_program_that_is_not_there_is_named(pulumi, tmp_path):
    (tmp_path / "project" / "stacks" / "__main__.py").unlink()
    (tmp_path / "project" / "Pulumi.yaml").write_text(PROJECT.replace("main: stacks", "main: nowhere"))
    done = pulumi("", "preview")
    assert done.returncode
    assert "nowhere" in done.stdout + done.stderr


def test_what_it_is_asked_about_itself_it_answers(pulumi):
    about = pulumi("", "about")
    assert "Rackwright's own" in about.stdout
    assert "pydantic" in about.stdout


def test_installing_says_that_it_does_nothing(toolbox, pulumi, tmp_path, environment):
    assert pulumi("", "preview").returncode == 0
    command = [toolbox["pulumi"].path, "install"]
    done = subprocess.run(
        command, cwd=tmp_path / "project", env=environment, capture_output=True, text=True, check=False
    )
    assert "Nothing is installed here" in done.stdout + done.stderr


def hosts(tmp_path: Path) -> list[int]:
    """The language hosts of this test."""
    mark = f"PULUMI_HOME={tmp_path / 'pulumi'}".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            ours = mark in (process / "environ").read_bytes().split(b"\0")
            if ours and b"rackwright.language_host" in (process / "cmdline").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_when_the_engine_ends_so_does_the_host(toolbox, pulumi, tmp_path, environment, number):
    pulumi("import time, pathlib\npathlib.Path('started').touch()\ntime.sleep(60)", "stack", "ls")
    command = [toolbox["pulumi"].path, "preview", "--stack", "phase1", "--non-interactive"]
    project = tmp_path / "project"
    engine = subprocess.Popen(
        command, cwd=project, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until(lambda: list(project.rglob("started")))
    assert hosts(tmp_path)
    engine.send_signal(number)
    engine.wait(PATIENCE_S)
    until(lambda: not hosts(tmp_path), "the language host has outlived its engine")


def test_a_shim_without_its_interpreter_says_what_is_missing(toolbox):
    bare = {name: value for name, value in os.environ.items() if name != "RACKWRIGHT_PYTHON"}
    done = subprocess.run(
        [toolbox["pulumi-language-python"].path], env=bare, capture_output=True, text=True, check=False
    )
    assert done.returncode
    assert "rackwright env" in done.stderr


def test_an_explanation_of_a_refusal_is_its_two_sentences(tmp_path):
    assert explain(Refusal("What.", "Cure."), tmp_path / "stacks") == "What.\nCure."
