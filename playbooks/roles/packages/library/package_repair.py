#!/usr/bin/python
"""Packages that a power cut left half done, as a module of Ansible's."""

from __future__ import annotations

DOCUMENTATION = """
module: package_repair
short_description: Finishes what dpkg was cut off in
description:
  - Sets up what is unpacked, unpacks again what is there in part, and brings what it needs.
  - Changes nothing where dpkg is done, or is not there.
  - A package manager that is at work is waited for; what it finishes is not half done.
author: Rackwright
options:
  removed:
    description: Packages, by pattern, that are taken out where they are there in part.
    type: list
    elements: str
    default: []
"""

EXAMPLES = """
- name: Finish what was cut off
  package_repair:
    removed: [nvidia-*]
"""

RETURN = """
torn:
  description: Packages whose files were there in part.
  type: list
  returned: always
"""

import fcntl  # noqa: E402 - Ansible wants the documentation first
import os  # noqa: E402
import shutil  # noqa: E402
import subprocess  # noqa: E402
import time  # noqa: E402
from fnmatch import fnmatchcase  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import IO, NamedTuple  # noqa: E402

from ansible.module_utils.basic import AnsibleModule  # noqa: E402

PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
ENVIRONMENT = {"PATH": PATH, **os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
RECORDS = Path(os.environ.get("DPKG_ADMINDIR", "/var/lib/dpkg"))  # as dpkg itself finds them
RECORD = "${db:Status-Abbrev}|${db:Status-Status}|${binary:Package}\\n"
ON_THE_WAY = {"half-installed", "unpacked", "half-configured", "triggers-awaited", "triggers-pending"}
AS_BEFORE = ("--force-confdef", "--force-confold")  # settings that somebody changed stay
APT = ("apt-get", "--yes", *(f"--option=Dpkg::Options::={each}" for each in AS_BEFORE))
LOCK_S, STEP_S = 300, 1800


class Found(NamedTuple):
    """What dpkg's records show."""

    is_interrupted: bool
    torn: list[str]


class Failed(Exception):  # noqa: N818 - it is an answer
    """What could not be done, in a sentence."""


def main() -> None:
    """Look, finish, and look again."""
    module = AnsibleModule(
        argument_spec={"removed": {"type": "list", "elements": "str", "default": []}}, supports_check_mode=True
    )
    if not shutil.which("dpkg", path=ENVIRONMENT["PATH"]):
        module.exit_json(changed=False, torn=[])
    try:
        found = look()
        if found.is_interrupted and not module.check_mode:
            wait()
            found = look()
            if found.is_interrupted:
                finish(found.torn, module.params["removed"])
    except Failed as failed:
        module.fail_json(msg=str(failed))
    module.exit_json(changed=found.is_interrupted, torn=found.torn)


def look() -> Found:
    """Whether anything is half done, and whose files are there in part."""
    updates = RECORDS / "updates"
    return understood(run("dpkg-query", "-W", "-f", RECORD), updates.is_dir() and any(updates.iterdir()))


def understood(records: str, was_writing: bool) -> Found:
    """Of dpkg's records: the second letter of a status is H, or the third R, where files must be unpacked again."""
    rows = [line.split("|") for line in records.splitlines()]
    torn = sorted({name for letters, _, name in rows if letters[1] == "H" or "R" in letters[2:]})
    return Found(was_writing or bool(torn) or any(status in ON_THE_WAY for _, status, _ in rows), torn)


def finish(torn: list[str], removed: list[str]) -> None:
    """From half done to done. Neither `dpkg --configure` nor `apt-get --fix-broken` unpacks again what is torn."""
    out = [name for name in torn if any(fnmatchcase(name.split(":")[0], pattern) for pattern in removed)]
    if out:
        run("dpkg", "--remove", "--force-remove-reinstreq", "--force-depends", *out)
    run("dpkg", "--configure", "--pending", *AS_BEFORE, codes=(0, 1))  # 1: something that it needs comes below
    if again := [name for name in torn if name not in out]:
        run(*APT, "install", "--reinstall", "--allow-change-held-packages", *again)
    run(*APT, "--fix-broken", "install")
    found = look()
    if found.is_interrupted:
        names = ", ".join(found.torn) or "some packages"
        raise Failed(f"dpkg is not done with {names}. See `dpkg --audit` on this host, mend that, and run this again.")


def wait() -> None:
    """Until no package manager is at work."""
    end = time.monotonic() + LOCK_S
    with (RECORDS / "lock-frontend").open("w") as lock:
        while not is_free(lock):
            if time.monotonic() > end:
                raise Failed(f"Another package manager has been at work for {LOCK_S} s; see `ps`.")
            time.sleep(1)


def is_free(lock: IO[str]) -> bool:
    """Whether nobody holds a lock file."""
    try:
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def run(*command: str, codes: tuple[int, ...] = (0,)) -> str:
    """What a command says; Failed with its last words where its code is none of those."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=STEP_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed(f"{command[0]} does not end ({type(error).__name__}).") from None
    if done.returncode not in codes:
        words = (done.stderr or done.stdout).strip().splitlines()[-3:]
        raise Failed(f"`{' '.join(command)}` ended with {done.returncode}: {' '.join(words)}")
    return done.stdout


if __name__ == "__main__":
    main()
