"""What a role calls its own, it also makes: Ansible misses a name only when it comes to it, which may be never."""

import re
from pathlib import Path

import pytest

ROLES = Path(__file__).resolve().parents[2] / "playbooks/roles"
OWN = re.compile(r"\b(__[a-z_0-9]+)\b")
MADE = re.compile(r"(?:register|loop_var): (__[a-z_0-9]+)|^\s*(__[a-z_0-9]+):", re.MULTILINE)


@pytest.mark.parametrize("role", sorted(path.name for path in ROLES.iterdir() if path.is_dir()))
def test_every_name_of_its_own_is_made_in_it(role):
    files = [path for part in ("tasks", "vars", "defaults", "templates") for path in (ROLES / role / part).glob("*")]
    text = "\n".join(path.read_text() for path in files)
    made = {name for found in MADE.findall(text) for name in found if name}
    assert set(OWN.findall(text)) <= made
