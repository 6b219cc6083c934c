"""What the tree itself must show."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOP_LEVEL = {
    ".ci", ".gitignore", "CHANGELOG.md", "LICENSE", "Pulumi.yaml", "README.md", "ansible.cfg", "benchmarks", "bin",
    "components", "docs", "inventory", "playbooks", "pyproject.toml", "rackwright", "requirements.lock", "stacks",
    "tests",
}  # fmt: skip


def tracked(*patterns: str) -> list[Path]:
    """Files in git, by pattern."""
    output = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / line for line in output.splitlines() if (ROOT / line).exists()]


def test_the_top_level_is_the_one_that_the_readme_shows():
    assert {file.relative_to(ROOT).parts[0] for file in tracked()} <= TOP_LEVEL


def test_nothing_is_left_for_later():
    pattern = re.compile(r"\b(TODO|FIXME|XXX)\b|NotImplementedError")
    for file in tracked("*.py", "*.yml", "*.yaml", "*.j2", "*.md"):
        if file != Path(__file__):
            assert not pattern.search(file.read_text()), file.relative_to(ROOT)


def test_nothing_fails_silently():
    pattern = re.compile(r"ignore_errors:|failed_when: *false|except( Exception)?: *pass\b|\|\| true")
    for file in tracked("*.py", "*.yml", "*.yaml", "*.sh", ".ci/run"):
        if file != Path(__file__):
            assert not pattern.search(file.read_text()), file.relative_to(ROOT)


def test_no_path_of_a_machine_is_named():
    pattern = re.compile(r"(?<![\w./-])/(root|work)/")
    for file in tracked():
        if file != Path(__file__):
            assert not pattern.search(file.read_text(errors="replace")), file.relative_to(ROOT)


@pytest.mark.parametrize("limit", [400])
def test_no_module_is_a_warehouse(limit):
    for file in tracked("rackwright/*.py", "components/*.py", "stacks/*.py", "bin/*"):
        assert len(file.read_text().splitlines()) <= limit, file.relative_to(ROOT)


def test_no_two_test_modules_have_one_name():
    """Pytest imports them by their names alone."""
    names = [file.name for file in tracked("tests/*.py") if file.name not in ("__init__.py", "conftest.py")]
    assert sorted(names) == sorted(set(names))


def test_the_lock_names_hashes_and_no_addresses():
    lock = (ROOT / "requirements.lock").read_text()
    assert "--hash=sha256:" in lock
    assert "://" not in lock
