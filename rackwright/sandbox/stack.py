"""Running a stack of this checkout through Pulumi's own command, with everything that it keeps in a folder of ours."""

import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import yaml

from rackwright.errors import Refusal
from rackwright.sandbox import processes
from rackwright.sandbox.events import Events, name_of, refused
from rackwright.sandbox.locks import Progress
from rackwright.sandbox.tools import Toolbox
from rackwright.secrets import Vault

ROOT = Path(__file__).resolve().parents[2]
PROJECT = "rackwright"
LISTEN_S = 1.0
UNCHANGED = {"same", "read"}
FOREIGN = ("PULUMI_", "KUBECONFIG", "HELM_", "ANSIBLE_VAULT_PASSWORD_FILE", "KUBECACHEDIR")


class Stack:
    """One stack with a state and a home of its own; nothing in the checkout or the user's home changes."""

    def __init__(
        self,
        name: str,
        folder: Path,
        owner: Path,
        *,
        toolbox: Toolbox,
        vault: Vault,
        passphrase: str,
        settings: Mapping[str, str],
    ) -> None:
        if not (ROOT / "Pulumi.yaml").is_file():
            raise Refusal(
                "A rehearsal needs a checkout, and this is an installed package.", "Run bin/rackwright in a clone."
            )
        self.name = name
        self.folder = folder
        self._pulumi = toolbox["pulumi"].path
        # Pulumi reads the passphrase from a file in this process' memory, which goes with this object.
        self._passphrase = os.fdopen(os.memfd_create("passphrase"), "wb", buffering=0)
        self._passphrase.write(passphrase.encode())
        self.environment = _environment(folder, owner, toolbox, vault) | {
            "PULUMI_CONFIG_PASSPHRASE_FILE": f"/proc/{os.getpid()}/fd/{self._passphrase.fileno()}"
        }
        self._settings = settings

    @property
    def configuration(self) -> Path:
        """The stack's configuration."""
        return self.folder / "project" / f"Pulumi.{self.name}.yaml"

    def prepare(self) -> None:
        """Make the stack, empty, and its configuration."""
        for name in ("state", "home", "project", "temporary", "helm"):
            (self.folder / name).mkdir(parents=True, mode=0o700)
        # Pulumi writes a new stack's salt beside the project that it is started in: this one, not the checkout.
        project = yaml.safe_load((ROOT / "Pulumi.yaml").read_text())
        (self.folder / "project" / "Pulumi.yaml").write_text(
            yaml.safe_dump({"name": project["name"], "runtime": project["runtime"]})
        )
        self._finish("stack", "init", self.name, "--no-select", at=self.folder / "project")
        salt = yaml.safe_load(self.configuration.read_text()) or {}
        config = {f"{PROJECT}:{key}": value for key, value in self._settings.items()}
        self.configuration.write_text(yaml.safe_dump({**salt, "config": config}))

    def up(self, progress: Progress, watch: Callable[[Events], None]) -> Events:
        """Bring everything up; `watch` is called every second, and ends it by raising."""
        events = Events()
        arguments = ("up", "--yes", "--skip-preview", "--json", *self._how())
        with self._started(arguments, subprocess.PIPE) as process:
            lines = _lines(process.stdout)
            while (line := _next(lines)) is not None:
                for told in events.hear(line):
                    progress(told)
                watch(events)
            if code := process.wait():
                watch(events)  # where something that Pulumi talks to has died, that is the reason
                raise refused(arguments, code, events.errors or self._trouble(arguments))
        return events

    @contextmanager
    def changes(self) -> Iterator[Callable[[], list[str]]]:
        """Start to look what another run would change; the function waits for it and lists `operation name`."""
        arguments = ("preview", "--json", *self._how())
        with (self.folder / "preview").open("w+") as output, self._started(arguments, output) as process:

            def answer() -> list[str]:
                code = process.wait()
                output.seek(0)
                if code:
                    raise refused(arguments, code, self._trouble(arguments))
                steps = json.load(output).get("steps") or []
                return sorted(f"{each['op']} {name_of(each['urn'])}" for each in steps if each["op"] not in UNCHANGED)

            yield answer

    def outputs(self) -> dict[str, Any]:
        """How to reach what came up; secret outputs are masked."""
        found: dict[str, Any] = json.loads(self._finish("stack", "output", "--json", "--stack", self.name, at=ROOT))
        return found

    def _how(self) -> tuple[str, ...]:
        return ("--stack", self.name, "--config-file", str(self.configuration), "--non-interactive", "--color", "never")

    def _finish(self, *arguments: str, at: Path) -> str:
        done = subprocess.run(
            [self._pulumi, *arguments],
            cwd=at,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,
        )
        if done.returncode:
            raise refused(
                arguments, done.returncode, [("", line) for line in (done.stderr or done.stdout).splitlines()]
            )
        return done.stdout

    @contextmanager
    def _started(self, arguments: Sequence[str], output: IO[str] | int) -> Iterator[subprocess.Popen[str]]:
        """Pulumi at work; whatever ends the block ends it and what it has started."""
        with (self.folder / f"{arguments[0]}.stderr").open("w") as trouble:
            process = subprocess.Popen(
                [self._pulumi, *arguments],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=trouble,
                text=True,
                start_new_session=True,  # Ctrl-C is for us
            )
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _trouble(self, arguments: Sequence[str]) -> list[tuple[str, str]]:
        lines = (self.folder / f"{arguments[0]}.stderr").read_text(errors="replace").splitlines()
        return [("", line) for line in lines]


def _environment(folder: Path, owner: Path, toolbox: Toolbox, vault: Vault) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return {
        **inherited,
        **toolbox.environment(),
        **processes.marked(owner),
        "PULUMI_BACKEND_URL": f"file://{folder / 'state'}",
        "PULUMI_HOME": str(folder / "home"),
        "ANSIBLE_VAULT_PASSWORD_FILE": str(vault.password_file),
        "ANSIBLE_HOME": str(folder / "home"),
        "KUBECACHEDIR": str(folder / "helm"),
        # The program's own client would else go to a proxy for a cluster on this very machine.
        **{name: f"{inherited.get(name, '')},127.0.0.1,localhost".lstrip(",") for name in ("NO_PROXY", "no_proxy")},
        "TMPDIR": str(folder / "temporary"),
        **{f"HELM_{what}_HOME": str(folder / "helm") for what in ("CACHE", "CONFIG", "DATA")},
    }


def _lines(stream: IO[str] | None) -> "queue.Queue[str | None]":
    """Its lines as they come, and nothing at its end; read aside, so that somebody can look up in between."""
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        for line in stream or ():
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return lines


def _next(lines: "queue.Queue[str | None]") -> str | None:
    """The next line, an empty one if there is none within a second, nothing at the end."""
    try:
        return lines.get(timeout=LISTEN_S)
    except queue.Empty:
        return ""
