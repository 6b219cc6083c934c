"""Building a family's programs from its pinned modules."""

from __future__ import annotations

import os
import queue
import subprocess
import threading
import time
from pathlib import Path
from typing import IO

from rackwright.sandbox import processes
from rackwright.sandbox.locks import Progress, silence
from rackwright.sandbox.tools import cache, go, trouble
from rackwright.sandbox.tools.declaration import Family, spell

SECONDS_BETWEEN_WORDS = 10.0
KINDLY = ("nice", "-n", "10")  # a build takes every core, and the machine has other work


def spell_time(seconds: float) -> str:
    """A duration as people say it."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def build(family: Family, progress: Progress = silence) -> Path:
    """The folder of the family's programs, built if need be."""
    folder = cache.home(family)
    if cache.is_whole(folder):
        return folder
    command = go.ensure(progress)
    with cache.made_once(folder, family.name, progress) as work:
        if work:
            cache.need_room([work, *_go_caches(command)], family.gigabytes, f"Building {family.name}")
            progress(f"Building {family.name} {family.version}, about {family.minutes:g} min on two cores.")
            started = time.monotonic()
            _compile(family, command, work, progress)
            for script in family.beside:
                target = work / "bin" / script
                target.write_bytes((family.folder / script).read_bytes())
                target.chmod(0o755)
            took = time.monotonic() - started
            compiler = spell(go.version_of(command) or (0, 0, 0))
            cache.seal(work, {"version": family.version, "go": compiler, "seconds": round(took)})
            progress(f"Built {family.name} in {spell_time(took)}.")
    return folder


def _go_caches(command: Path) -> list[Path]:
    """Where Go keeps modules and compiled packages; it leaves both for the next build."""
    said = subprocess.run([command, "env", "GOCACHE", "GOMODCACHE"], capture_output=True, text=True, check=False)
    return [Path(line) for line in said.stdout.split()]


def _compile(family: Family, command: Path, work: Path, progress: Progress) -> None:
    """Run `go build` and tell how far it is; a Refusal if it fails."""
    log = cache.cache_folder() / "logs" / f"{family.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    output = work / "bin" / family.output if family.output else f"{work / 'bin'}{os.sep}"
    arguments = ["build", "-v", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags"]
    settings = {"CGO_ENABLED": "0", "GOWORK": "off", "GOTOOLCHAIN": "local", "GOTMPDIR": str(work / "tmp")}
    environment = trouble.environment_without("GOROOT", **settings, **processes.marked(work))
    with subprocess.Popen(
        [*KINDLY, command, *arguments, family.linker_flags(family.version), "-o", str(output), *family.packages],
        cwd=family.folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,  # Ctrl-C is ours to pass on: the compilers must be gone before the folder is removed
    ) as process:
        try:
            said = _follow(family, process.stderr, progress)
        except BaseException:
            process.kill()
            raise
    log.write_text(said)
    if process.returncode:
        raise trouble.refusal(f"{family.name} {family.version}", said, log)


def _follow(family: Family, lines: IO[str] | None, progress: Progress) -> str:
    """Everything that the compiler says until it ends, with a word about it every few seconds."""
    said: list[str] = []
    waiting: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def read() -> None:
        for line in lines or ():
            waiting.put(line)
        waiting.put(None)

    threading.Thread(target=read, daemon=True).start()
    started = spoken = time.monotonic()
    while True:
        try:
            line = waiting.get(timeout=1)
        except queue.Empty:
            line = ""
        if line is None:
            return "".join(said)
        if line:
            said.append(line)
        if time.monotonic() - spoken >= SECONDS_BETWEEN_WORDS:
            spoken = time.monotonic()
            progress(f"Building {family.name}: {spell_time(spoken - started)} so far, {_stage(said)}.")


def _stage(said: list[str]) -> str:
    """How far a build is, from what `go build -v` has printed: one line a download, one a package."""
    fetched = sum(line.startswith("go: downloading") for line in said)
    compiled = len(said) - fetched
    if not said:
        return "all of it compiled before, being linked"
    if not compiled:
        return f"{fetched} modules fetched"
    return f"{compiled} packages compiled, now {said[-1].strip()}"
