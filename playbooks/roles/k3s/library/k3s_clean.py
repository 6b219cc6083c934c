#!/usr/bin/python
"""Taking k3s off a machine, and no volume's data with it."""

from __future__ import annotations

DOCUMENTATION = """
module: k3s_clean
short_description: Ends what a stopped k3s has left running, and removes what it has written
description:
  - Kills pods by their control groups, unmounts what is theirs, removes links and rules of their network, then files.
  - Where something stays mounted below a path that is to go, nothing is removed. A volume would be emptied otherwise.
  - A path that is itself a place of the drive for the node's state is emptied, and stays mounted.
  - In check mode it says what it would do.
author: Rackwright
options:
  groups: {description: Control groups to end., type: list, elements: path, required: true}
  mounts: {description: Beginnings of paths to unmount., type: list, elements: path, required: true}
  links: {description: Network links to remove., type: list, elements: str, required: true}
  chains: {description: What names of iptables' chains begin with., type: list, elements: str, required: true}
  paths: {description: Patterns of files and folders to remove., type: list, elements: path, required: true}
"""

EXAMPLES = """
- name: Take it off
  k3s_clean: "{{ what_is_its_own }}"
"""

RETURN = """
done: {description: What was done, or would be., type: list, returned: always}
"""

import glob  # noqa: E402 - Ansible wants the documentation first
import os  # noqa: E402 - Ansible wants the documentation first
import shutil  # noqa: E402 - Ansible wants the documentation first
import subprocess  # noqa: E402 - Ansible wants the documentation first
from collections.abc import Callable, Iterator  # noqa: E402 - Ansible wants the documentation first
from pathlib import Path  # noqa: E402 - Ansible wants the documentation first
from typing import Any  # noqa: E402 - Ansible wants the documentation first

from ansible.module_utils.basic import AnsibleModule  # noqa: E402 - Ansible wants the documentation first

PATHS = {"type": "list", "elements": "path", "required": True}
WORDS = {"type": "list", "elements": "str", "required": True}
Step = tuple[str, Callable[[], Any]]


class StillMountedError(Exception):
    """Something is mounted below what is to go."""


def main() -> None:
    """Do it, or say what would be done."""
    module = AnsibleModule(
        argument_spec={"groups": PATHS, "mounts": PATHS, "links": WORDS, "chains": WORDS, "paths": PATHS},
        supports_check_mode=True,
    )
    done = []
    try:
        for what, act in _steps(module.params):
            if not module.check_mode:
                act()
            done.append(what)
    except (OSError, subprocess.CalledProcessError, StillMountedError) as error:
        module.fail_json(msg=f"after {', '.join(done) or 'nothing'}: {error}", done=done, changed=bool(done))
    module.exit_json(changed=bool(done), done=done)


def _steps(wished: dict[str, Any]) -> Iterator[Step]:
    """Each thing that is there, when its turn comes."""
    for group in wished["groups"]:
        kill = Path(group, "cgroup.kill")
        if kill.exists() and _is_populated(Path(group)):
            yield f"end {group}", lambda kill=kill: kill.write_text("1")
    for place in [each for each in reversed(_mounted()) if _is_below(each, wished["mounts"])]:
        yield f"unmount {place}", lambda place=place: _run("umount", place)
    for link in wished["links"]:
        if Path("/sys/class/net", link).exists():
            yield f"remove link {link}", lambda link=link: _run("ip", "link", "delete", link)
    for program in ("iptables", "ip6tables"):
        if shutil.which(program) and _without(_rules(program), wished["chains"]) != _rules(program):
            yield f"remove rules of {program}", lambda program=program: _restore(program, wished["chains"])
    for path in (each for pattern in wished["paths"] for each in sorted(glob.glob(pattern))):  # noqa: PTH207
        if not _is_empty_mount(path):
            yield f"remove {path}", lambda path=path: _remove(Path(path))


def _is_populated(group: Path) -> bool:
    return "populated 1" in (group / "cgroup.events").read_text(encoding="utf-8")


def _mounted() -> list[str]:
    """Where something is mounted, in the order in which it was."""
    lines = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    return [line.split()[1].encode().decode("unicode_escape") for line in lines]


def _is_below(path: str, beginnings: list[str]) -> bool:
    return any(path == each or path.startswith(each) for each in beginnings)


def _is_empty_mount(path: str) -> bool:
    """Whether it is a place of the drive for the node's state that has nothing in it: it stays where it is mounted."""
    return path in _mounted() and not any(Path(path).iterdir())


def _remove(path: Path) -> None:
    inside = [each for each in _mounted() if each.startswith(f"{path}/")]
    if inside:
        raise StillMountedError(f"{inside[0]} is still mounted, and {path} is left alone")
    for each in path.iterdir() if str(path) in _mounted() else [path]:
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()


def _rules(program: str) -> list[str]:
    return _run(f"{program}-save").splitlines()


def _without(rules: list[str], chains: list[str]) -> list[str]:
    """Rules without those chains, and without what leads to them."""
    named = [marker for chain in chains for marker in (f":{chain}", f" {chain}", f'"{chain}')]
    return [rule for rule in rules if rule.startswith("#") or not any(marker in rule for marker in named)]


def _restore(program: str, chains: list[str]) -> None:
    text = "\n".join(_without(_rules(program), chains)) + "\n"
    subprocess.run([f"{program}-restore"], input=text, text=True, check=True, capture_output=True, env=_environment())


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, env=_environment()).stdout


def _environment() -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C", "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}


if __name__ == "__main__":
    main()
