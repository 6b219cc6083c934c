"""Starting a playbook of this checkout, as `ansible-playbook` at its root does, and knowing how each host came out."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from rackwright.errors import Refusal

ROOT = Path(__file__).resolve().parents[1]
EVENTS, LISTENER = "RACKWRIGHT_EVENTS", "rackwright_events"
PLAIN = {"ANSIBLE_NOCOLOR": "1", "ANSIBLE_FORCE_COLOR": "0", "ANSIBLE_DISPLAY_SKIPPED_HOSTS": "0"}
BAD = ("failed", "unreachable")
OF_ANSIBLE = "Validating arguments against arg spec"  # a task of Ansible's own before each role
PATIENCE_S = 2  # a terminal's Ctrl-C reaches Ansible by itself, and a second one would cut its ending short


@dataclass
class Came:
    """How one host came out of a run: tasks by their end, and the last one that went wrong with its reason."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("ok", "changed", *BAD), 0))
    changes: list[str] = field(default_factory=list)
    task: str = ""
    words: str = ""

    @property
    def is_well(self) -> bool:
        """True where nothing went wrong that was not mended on the way."""
        return not any(self.counts[kind] for kind in BAD)


@dataclass(frozen=True)
class Ended:
    """How a run ended: Ansible's exit code, everything that it said, and each host's part."""

    code: int
    said: str
    hosts: Mapping[str, Came] = field(default_factory=dict)

    def first_fault(self) -> str:
        """Its own first word of a fault, for a run that ended before any task."""
        errors = [line for line in self.said.splitlines() if line.startswith(("[ERROR]", "ERROR", "fatal:"))]
        return (errors or self.said.split("\n"))[0].strip()[:300] or "it said nothing"


def run(
    name: str,
    site: Path,
    variables: Mapping[str, Any],
    *,
    limit: str | None = None,
    options: Sequence[str] = (),
    progress: Callable[[str], None] = lambda _: None,
    keeps: Sequence[int] = (),
) -> Ended:
    """Run playbooks/<name>.yml on a site's folder to its end; each task is told when it begins.

    It `keeps` descriptors open for as long as it runs, such as a lock's. Raises Refusal where there is no Ansible, and
    KeyboardInterrupt when it was stopped.
    """
    program = Path(sys.executable).with_name("ansible-playbook")
    command = [str(program), "-i", str(site.absolute()), f"playbooks/{name}.yml", "-e", json.dumps(dict(variables))]
    command += [*options, *(["--limit", limit] if limit else [])]
    reader, writer = os.pipe()
    with tempfile.TemporaryFile("w+", errors="replace") as said, open(reader, errors="replace") as events:  # noqa: PTH123 - a descriptor
        try:
            process = _started(command, said, (writer, *keeps))
        finally:
            os.close(writer)
        hosts: dict[str, Came] = {}
        _wait(process, lambda: _heard(events, hosts, progress))
        said.seek(0)
        return Ended(process.returncode, said.read(), hosts)


def _started(command: Sequence[str], said: IO[str], kept: tuple[int, ...]) -> subprocess.Popen[bytes]:
    environment = {key: value for key, value in os.environ.items() if key != "ANSIBLE_CONFIG"} | PLAIN
    environment |= {EVENTS: str(kept[0]), "ANSIBLE_CALLBACKS_ENABLED": LISTENER}
    try:
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            pass_fds=kept,
        )
    except OSError as error:
        raise Refusal(
            f"{command[0]} cannot be started ({error.strerror}).", "Run bin/rackwright, which brings Ansible with it."
        ) from None


def _wait(process: subprocess.Popen[bytes], hear: Callable[[], None]) -> None:
    """Follow a run to its end; when it is stopped, it has ended before this one does."""
    try:
        hear()
        process.wait()
    except KeyboardInterrupt:
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            process.wait()
        raise
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()


def _heard(events: Iterable[str], hosts: dict[str, Came], progress: Callable[[str], None]) -> None:
    """Listen to a run until it is silent; a task is told when it begins, and again where it changed something."""
    ends: Counter[str] = Counter()
    begun = ""
    for event in _understood(events):
        if "host" in event:
            ends[event["kind"]] += 1
            _count(hosts.setdefault(event["host"], Came()), event)
            if event["kind"] in BAD:
                progress(f"{event['host']} {event['kind']}: {event['task']}")
            continue
        if ends["changed"]:
            progress(f"  changed on {ends['changed']} of {ends.total()} host{'' if ends.total() == 1 else 's'}")
        ends.clear()
        if "stats" in event:
            _settle(hosts, event["stats"])
        elif not event.get("task", "").startswith(OF_ANSIBLE):
            line = f"== {event['play']}" if "play" in event else event["task"]
            if line != begun:  # Ansible begins some tasks anew for each host
                progress(line)
            begun = line


def _understood(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            yield json.loads(line)
        except ValueError:  # the last line of a run that was killed
            continue


def _count(host: Came, event: Mapping[str, Any]) -> None:
    kind = event["kind"]
    host.counts[kind] += 1
    if kind == "changed":
        host.changes.append(event["task"])
    if kind in BAD:
        host.task, host.words = event["task"], event["words"]


def _settle(hosts: dict[str, Came], stats: Mapping[str, Mapping[str, int]]) -> None:
    """Ansible's own figures at the end: what was rescued is no failure."""
    for name, figures in stats.items():
        host = hosts.setdefault(name, Came())
        host.counts = {
            "ok": figures["ok"],
            "changed": figures["changed"],
            "failed": figures["failures"],
            "unreachable": figures["unreachable"],
        }
