"""The command as a process, as a user starts it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rackwright.secrets import Vault, throw_away
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(sys.executable).with_name("rackwright")
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """An environment without the user's own settings, with a folder in memory of the test's own."""
    own = {
        name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "PULUMI_", "RACKWRIGHT_"))
    }
    runtime = tmp_path / "runtime"
    runtime.mkdir(mode=0o700)
    return own | {"XDG_RUNTIME_DIR": str(runtime)}


@pytest.fixture
def rackwright(variables: dict[str, str]) -> Run:
    """Run the command at the root of the checkout."""

    def run(*arguments: object, stdin: str = "", cwd: Path = ROOT, **more: str) -> subprocess.CompletedProcess[str]:
        command = [PROGRAM, *map(str, arguments)]
        return subprocess.run(
            command, cwd=cwd, env=variables | more, input=stdin, capture_output=True, text=True, check=False
        )

    return run


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A copy of the sample with everything, in a folder of its own, without a vault."""
    folder = tmp_path / "lab"
    folder.mkdir()
    (folder / "site.yml").write_text((ROOT / "inventory" / "lab" / "site.yml").read_text())
    return folder


@pytest.fixture
def vault(lab: Path) -> Vault:
    """The complete vault of that copy."""
    return throw_away(Site.load(lab), lab)


@pytest.fixture
def broken(lab: Path) -> Path:
    """That copy with two faults."""
    file = lab / "site.yml"
    file.write_text(file.read_text().replace("mtu: 9000", "mtuu: 9000", 1).replace("cores: 128", "cores: many", 1))
    return lab
