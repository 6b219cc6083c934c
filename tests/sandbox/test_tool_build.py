"""Building a program: whole or not at all, once, and with one sentence where it fails."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from collections import namedtuple
from pathlib import Path

import pytest
from pretended_programs import script
from waiting import PATIENCE_S, until

from rackwright.errors import Refusal
from rackwright.sandbox import processes
from rackwright.sandbox.tools import cache, declaration, go, trouble
from rackwright.sandbox.tools.build import build, spell_time
from rackwright.sandbox.tools.declaration import Family

REAL_GO = shutil.which("go")
# Says what it is asked, notes that it was called, and builds what it is told to, for as long as a file is there.
PRETENDED_GO = """
case "$1" in
env) [ "$2" = GOVERSION ] && echo go1.99.0 || { echo "$HOME/go-build"; echo "$HOME/mod"; } ;;
build)
    echo called >> "$HOME/calls"
    while [ -e "$HOME/slow" ]; do /bin/sleep 0.05; done
    while [ $# -gt 0 ]; do [ "$1" = -o ] && printf program > "$2"; shift; done ;;
esac
"""
ALONE = """
    import sys
    from pathlib import Path
    from rackwright.sandbox.tools import declaration, go
    from rackwright.sandbox.tools.build import build
    declaration.FOLDER = Path({folder!r})
    go.needed = lambda: (1, 2, 0)
    family = declaration.Family("tiny", "example.invalid/tiny", (".",), output="tiny")
    print(build(family, lambda line: print(line, flush=True)))
"""


@pytest.fixture
def family(tmp_path, monkeypatch, bare):
    """A family of one program, whose module is in a folder of its own, and a go that only pretends."""
    folder = tmp_path / "families"
    (folder / "tiny").mkdir(parents=True)
    (folder / "tiny" / "go.mod").write_text("module tiny\n\ngo 1.26.0\n\nrequire example.invalid/tiny v1.2.3\n")
    (folder / "tiny" / "main.go").write_text('package main\n\nfunc main() { println("v1.2.3") }\n')
    monkeypatch.setattr(declaration, "FOLDER", folder)
    monkeypatch.setattr(go, "needed", lambda: (1, 2, 0))
    (tmp_path / "home").mkdir()
    script(bare, "go", PRETENDED_GO)
    script(bare, "nice", 'shift 2; exec "$@"')
    yield Family("tiny", "example.invalid/tiny", (".",), output="tiny")
    (tmp_path / "home" / "slow").unlink(missing_ok=True)  # a go that a failed test left would wait for ever


@pytest.fixture
def real_go(tmp_path, monkeypatch, bare, family):  # noqa: ARG001 - it brings the pretended go that is replaced here
    """The real compiler, on a module that needs nothing."""
    if REAL_GO is None:
        pytest.skip("no Go on PATH")
    (bare / "go").unlink()
    (bare / "go").symlink_to(REAL_GO)
    monkeypatch.setenv("GOMODCACHE", str(tmp_path / "modules"))
    monkeypatch.setenv("GOPROXY", "off")
    monkeypatch.setenv("GOFLAGS", "-modcacherw")


def alone(family: Family) -> subprocess.Popen:
    """A build in a process of its own, which can be killed."""
    code = textwrap.dedent(ALONE).format(folder=str(family.folder.parent))
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def left_behind() -> list[str]:
    """What is in the cache besides finished folders, locks and logs."""
    folder = cache.cache_folder() / "tools"
    return [path.name for path in folder.iterdir() if path.is_dir() and path.name.startswith(cache.HALF_MADE)]


def calls(tmp_path: Path) -> int:
    file = tmp_path / "home" / "calls"
    return len(file.read_text().splitlines()) if file.exists() else 0


def test_a_program_is_built_once_and_kept(family, tmp_path):
    said: list[str] = []
    first = build(family, said.append)
    assert (first / "bin" / "tiny").read_text() == "program"
    assert any("Building tiny v1.2.3" in line for line in said)
    assert build(family, said.append) == first
    assert calls(tmp_path) == 1
    assert left_behind() == []


@pytest.mark.usefixtures("real_go")
def test_the_real_compiler_builds_it(family):
    (family.folder / "go.mod").write_text("module tiny\n\ngo 1.20\n\n// require example.invalid/tiny v1.2.3\n")
    declaration.pinned_version.cache_clear()
    family = Family("tiny", "// require example.invalid/tiny", (".",), output="tiny")
    program = build(family) / "bin" / "tiny"
    assert subprocess.run([program], capture_output=True, text=True, check=True).stderr == "v1.2.3\n"


@pytest.mark.usefixtures("real_go")
def test_a_module_proxy_that_is_out_of_reach_is_said_in_a_sentence(family):
    (family.folder / "main.go").write_text('package main\n\nimport _ "example.invalid/tiny"\n\nfunc main() {}\n')
    sums = "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
    lines = [f"example.invalid/tiny v1.2.3{part} {sums}" for part in ("", "/go.mod")]
    (family.folder / "go.sum").write_text("\n".join(lines) + "\n")
    with pytest.raises(Refusal) as refused:
        build(family)
    assert "Go module proxy was not reached" in refused.value.what
    assert "GOPROXY" in refused.value.cure
    assert left_behind() == []


@pytest.mark.usefixtures("real_go")
def test_what_the_compiler_says_last_is_told_and_the_rest_is_in_a_log(family):
    (family.folder / "go.mod").write_text("module tiny\n\ngo 1.20\n\n// require example.invalid/tiny v1.2.3\n")
    (family.folder / "main.go").write_text("package main\n\nfunc main() { nonsense() }\n")
    family = Family("tiny", "// require example.invalid/tiny", (".",), output="tiny")
    with pytest.raises(Refusal, match="undefined: nonsense") as refused:
        build(family)
    log = Path(refused.value.cure.rpartition(" in ")[2].rstrip("."))
    assert "nonsense" in log.read_text()
    assert left_behind() == []


def test_one_byte_of_a_pin_makes_another_program(family):
    before = cache.home(family)
    (family.folder / "go.sum").write_text("x\n")
    assert cache.home(family) != before


def test_another_go_does_not(family, bare):
    before = build(family)
    script(bare, "go", PRETENDED_GO.replace("1.99.0", "1.99.1"))
    assert build(family) == before


def test_two_at_once_build_once(family, tmp_path):
    slow = tmp_path / "home" / "slow"
    slow.touch()
    first = alone(family)
    until(lambda: calls(tmp_path) == 1)
    second = alone(family)
    assert "Waiting for another process that makes tiny" in second.stdout.readline()
    slow.unlink()
    results = [process.communicate(timeout=60)[0].splitlines()[-1] for process in (first, second)]
    assert results == [str(cache.home(family))] * 2
    assert calls(tmp_path) == 1


def test_a_build_that_was_killed_leaves_nothing_that_is_trusted(family, tmp_path):
    slow = tmp_path / "home" / "slow"
    slow.touch()
    killed = alone(family)
    until(lambda: calls(tmp_path) == 1)
    (half,) = (path for path in (cache.cache_folder() / "tools").iterdir() if path.name.startswith(cache.HALF_MADE))
    killed.kill()
    killed.wait()
    assert processes.working_in(half), "the compiler goes on without its master"
    slow.rename(tmp_path / "home" / "fast")
    # The orphan may end in this moment, or be ended by the next build: either way nothing of it is used.
    assert (build(family) / "bin" / "tiny").exists()
    assert not processes.working_in(half)
    assert left_behind() == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_build_ends_its_compiler(family, tmp_path, number):
    (tmp_path / "home" / "slow").touch()
    interrupted = alone(family)
    until(lambda: calls(tmp_path) == 1)
    (half,) = (path for path in (cache.cache_folder() / "tools").iterdir() if path.name.startswith(cache.HALF_MADE))
    os.kill(interrupted.pid, number)
    interrupted.communicate(timeout=PATIENCE_S)
    assert not processes.working_in(half)
    assert left_behind() == []
    assert not cache.is_whole(cache.home(family))


def test_a_full_disk_is_refused_before_anything_is_built(family, tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(cache.shutil, "disk_usage", lambda _: usage(1, 1, 5_000_000))
    with pytest.raises(Refusal, match=r"needs 1\.0 GB, and the disk of .* has 0\.0 GB free"):
        build(family)
    assert calls(tmp_path) == 0
    assert left_behind() == []


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("write /x: no space left on device", "disk is full"),
        ("verifying a@v1: checksum mismatch\n\nSECURITY ERROR", "pinned checksum"),
        ('Get "x": dial tcp: lookup proxy: no such host', "module proxy was not reached"),
        ('Get "x": proxyconnect tcp: EOF', "module proxy was not reached"),
        ("a: reading x: 503 Service Unavailable", "module proxy was not reached"),
        ("compile: signal: killed", "out of memory"),
        ("main.go:3: undefined: x", "could not be built: main.go:3: undefined: x"),
        ("", "it said nothing"),
    ],
)
def test_a_failure_is_one_sentence_and_its_cure(said, what, tmp_path):
    refusal = trouble.refusal("tiny", said, tmp_path / "log")
    assert what in refusal.what
    assert refusal.cure


def test_durations_are_spelled_as_people_say_them():
    assert [spell_time(seconds) for seconds in (3.4, 59.7, 61, 1200)] == ["3 s", "1 min 0 s", "1 min 1 s", "20 min 0 s"]
