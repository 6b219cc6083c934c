"""Who may import whom: the walls of the house."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# By package: what its modules may import at the top of a file, beside the standard library and themselves.
MAY_IMPORT = {
    "rackwright.errors": set(),
    "rackwright.command_line": set(),
    "rackwright.user_path": {"rackwright.errors"},
    "rackwright.inventory": {"rackwright.errors", "rackwright.site"},
    "rackwright.language_host": {"google", "grpc", "pulumi", "rackwright.errors"},
    "rackwright.site": {"annotated_types", "pydantic", "pydantic_core", "yaml", "rackwright.errors"},
    "rackwright.playbook": {"rackwright.errors"},
    "rackwright.metal": {"pydantic", "yaml", "rackwright.errors", "rackwright.site"},
    "rackwright.unanswered": set(),
    "rackwright.provisioning": {"rackwright.errors", "rackwright.playbook", "rackwright.site", "rackwright.unanswered"},
    "rackwright.preflight": {
        "pydantic", "yaml", "rackwright.errors", "rackwright.site", "rackwright.metal", "rackwright.unanswered",
    },
    "rackwright.observe": {"pydantic", "rackwright.errors", "rackwright.site"},
    "rackwright.verify": {"pydantic", "rackwright.errors", "rackwright.site", "rackwright.preflight"},
    "rackwright.capacity": {"pydantic", "yaml", "rackwright.errors", "rackwright.site"},
    "rackwright.bench": {
        "httpx", "pydantic", "rackwright.capacity", "rackwright.errors", "rackwright.observe", "rackwright.site",
    },
    "rackwright.advice": {"rackwright.capacity", "rackwright.errors", "rackwright.observe", "rackwright.site"},
    "rackwright.secrets": {
        "pydantic", "yaml", "rackwright.command_line", "rackwright.errors", "rackwright.site", "rackwright.user_path",
    },
    "rackwright.checks": {
        "yaml", "rackwright.command_line", "rackwright.errors", "rackwright.site", "rackwright.secrets",
    },
    "rackwright.sandbox": {
        "yaml", "rackwright.errors", "rackwright.site", "rackwright.secrets", "rackwright.checks",
        "rackwright.user_path",
    },
    "rackwright.guests": {
        "yaml", "rackwright.errors", "rackwright.site", "rackwright.secrets", "rackwright.metal",
        "rackwright.sandbox",
    },
    "rackwright.rollout": {
        "pydantic", "rackwright.checks", "rackwright.errors", "rackwright.guests", "rackwright.observe",
        "rackwright.playbook", "rackwright.provisioning", "rackwright.sandbox", "rackwright.secrets", "rackwright.site",
        "rackwright.user_path",
    },
    "rackwright.cli": {"typer", "click", "rackwright.errors", "rackwright.user_path"},
    "components": {"pulumi", "pulumi_kubernetes", "yaml", "rackwright.site", "rackwright.errors", "components.base"},
    "stacks": {
        "pulumi", "pulumi_kubernetes", "components", "rackwright.errors", "rackwright.observe", "rackwright.rollout",
        "rackwright.secrets", "rackwright.site",
        "rackwright.user_path",
    },
}  # fmt: skip


def modules(package: str) -> list[Path]:
    """The package's own files."""
    folder = ROOT / package.replace(".", "/")
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]


def imported(file: Path) -> set[str]:
    """Names of modules that a file imports when it is imported itself."""
    found: set[str] = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            found.add(node.module or "")
    return found


def is_allowed(name: str, allowed: set[str]) -> bool:
    """True where a module or a package around it is allowed."""
    return name.split(".", maxsplit=1)[0] in sys.stdlib_module_names or any(
        name == package or name.startswith(f"{package}.") for package in allowed
    )


def own(package: str, file: Path) -> str:
    """What a file may import of its own package: all of it, but of the components only the file's own."""
    if package != "components":
        return package
    return f"components.{file.relative_to(ROOT / package).parts[0].removesuffix('.py')}"


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_package_imports_only_what_it_may(package):
    for file in modules(package):
        allowed = MAY_IMPORT[package] | {own(package, file)}
        forbidden = sorted(name for name in imported(file) if not is_allowed(name, allowed))
        assert not forbidden, f"{file.relative_to(ROOT)} imports {', '.join(forbidden)}"


def test_every_package_has_a_law():
    places = (
        path for path in (ROOT / "rackwright").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    )
    assert {f"rackwright.{path.stem}" for path in places} - {"rackwright.__init__"} <= set(MAY_IMPORT)
