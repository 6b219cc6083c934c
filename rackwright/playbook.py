"""Starting a playbook of this checkout, as `ansible-playbook` at its root does."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rackwright.errors import Refusal

ROOT = Path(__file__).resolve().parents[1]
INTERRUPTED = 130
TASK = "TASK ["
PLAIN = {"ANSIBLE_NOCOLOR": "1", "ANSIBLE_FORCE_COLOR": "0", "ANSIBLE_DISPLAY_SKIPPED_HOSTS": "0"}


class Ended(NamedTuple):
    """How a run ended: Ansible's exit code, and everything that it said."""

    code: int
    said: str


def run(
    name: str,
    site: Path,
    variables: Mapping[str, Any],
    *,
    limit: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Ended:
    """Run playbooks/<name>.yml on a site's folder to its end; each task is told when it begins.

    Raises Refusal where there is no Ansible, and KeyboardInterrupt when it was stopped.
    """
    program = Path(sys.executable).with_name("ansible-playbook")
    command = [str(program), "-i", str(site.absolute()), f"playbooks/{name}.yml", "-e", json.dumps(dict(variables))]
    command += ["--limit", limit] if limit else []
    environment = {key: value for key, value in os.environ.items() if key != "ANSIBLE_CONFIG"} | PLAIN
    try:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
    except OSError as error:
        raise Refusal(
            f"{program} cannot be started ({error.strerror}).", "Run bin/rackwright, which brings Ansible with it."
        ) from None
    return _followed(process, progress)


def _followed(process: subprocess.Popen[str], progress: Callable[[str], None]) -> Ended:
    """Wait for a run; a Ctrl-C reaches Ansible by itself, which then ends well."""
    lines: list[str] = []
    try:
        for line in process.stdout or ():
            lines.append(line)
            if line.startswith(TASK):
                progress(line.removeprefix(TASK).partition("]")[0].rpartition(" : ")[2])
        return Ended(process.wait(), "".join(lines))
    except KeyboardInterrupt:
        process.wait()
        raise
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()
        if process.stdout:
            process.stdout.close()
