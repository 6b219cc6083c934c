#!/usr/bin/python3
"""Tries a wished network, and puts the old one back unless somebody who came over the new one confirms it.

begin: start the trial, apart from this login. ask: say how far it is, as JSON. confirm WORD: keep the new
network, by the word that `ask` gave. By units only: try SECONDS; restore, when a trial has ended; boot, when the
power cut one off.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

STATE = Path("/etc/rackwright/network")  # on the root file system: at boot, others are mounted too late
PLAN, TRIAL, APPLIED, SEEN, CONFIRMED, OUTCOME = (
    STATE / name for name in ("plan.json", "trial.json", "applied", "seen", "confirmed", "outcome")
)
UNIT = "rackwright-network-trial.service"
LINKS = Path("/sys/class/net")
DAEMONS = {
    "networkd": ("systemd-networkd.socket", "systemd-networkd.service"),
    "network_manager": ("NetworkManager.service",),
}
PRIVATE = ("/etc/netplan/", "/etc/NetworkManager/")  # both refuse or warn of files that others can read
BEFORE_CHANGE_S = 2  # the answer that the trial has begun goes out over the old network
PROOF_S = 120  # for the proof, once somebody has come over the new network


def begin() -> int:
    """Forget earlier trials and start this one."""
    _forget(APPLIED, SEEN, CONFIRMED, OUTCOME)
    return subprocess.run(["systemctl", "start", "--no-block", UNIT], check=False).returncode


def ask() -> int:
    """The state of the trial; that it was asked over the new network is kept as well."""
    word = _text(APPLIED)
    if TRIAL.exists() and word:
        _save(SEEN, "")
    state = ("applied" if word else "pending") if TRIAL.exists() else _text(OUTCOME)
    print(json.dumps({"state": state or ("pending" if PLAN.exists() else "none"), "word": word}))
    return 0


def confirm(word: str) -> int:
    """Keep the new network, if it was not taken back meanwhile and its routers answer as they did before."""
    with _lock():
        if not TRIAL.exists() or _text(APPLIED) != word:
            print("The trial is over, and the old network is back.")
            return 1
        silent = [each for each in json.loads(_text(TRIAL))["answering"] if not _answers(each)]
        if silent:
            print(f"{', '.join(silent)} answered before, and does not over the new network.")
            return 1
        _save(CONFIRMED, "")
    return 0


def trial(seconds: float) -> int:
    """Write down the old network, try the new one, and wait for a confirmation."""
    plan = json.loads(_text(PLAN))
    time.sleep(BEFORE_CHANGE_S)
    daemons = _daemons()
    record = {
        "files": {path: _text(Path(path)) if Path(path).exists() else None for path in plan["files"]},
        "names": {new: old for old, new in plan["names"].items()},
        "built": plan["built"],
        "daemon": plan["daemon"],
        "running": {daemon: daemons[daemon] for daemon in daemons},
        "stanzas": [name for name in plan["names"] if Path("/run/network/ifstate." + name).exists()],
        "answering": [each for each in plan["gateways"] if _answers(each)],
    }
    _save(TRIAL, json.dumps(record))  # from here on, a power cut ends in the old network
    _forget(PLAN)
    for name in record["stanzas"]:
        _run("ifdown", "--force", name)
    _put(plan["files"])
    wished = "network_manager" if plan["daemon"] == "network_manager" else "networkd"
    _switch(plan["names"], plan["built"], plan["daemon"], {**daemons, wished: {"active": True, "enabled": True}})
    _save(APPLIED, secrets.token_hex(16))
    started = time.monotonic()
    while time.monotonic() - started < seconds + (PROOF_S if SEEN.exists() else 0):
        if CONFIRMED.exists():
            return 0
        time.sleep(0.5)
    print(f"Nobody confirmed the new network within {seconds:g} s.")
    return 1


def restore() -> int:
    """End a trial: settle what was confirmed, put back what was not."""
    with _lock():
        if not TRIAL.exists():
            if PLAN.exists():
                _save(OUTCOME, "failed")
            _forget(PLAN)
            return 0
        if not CONFIRMED.exists():
            record = json.loads(_text(TRIAL))
            _put(record["files"])
            _switch(record["names"], record["built"], record["daemon"], record["running"])
            for name in record["stanzas"]:
                _run("ifup", name)
        _end()
    return 0


def boot() -> int:
    """Before any port is named: a trial that the power cut off ends in the files of the old network."""
    record = json.loads(_text(TRIAL))
    if not CONFIRMED.exists():
        _put(record["files"])
        for daemon, state in record["running"].items():
            if not state["enabled"]:
                _run("systemctl", "disable", *DAEMONS[daemon])
        if record["daemon"] == "netplan":
            _run("netplan", "generate")  # systemd has run it already, on the new files
    _end()
    return 0


def _end() -> None:
    _save(OUTCOME, "confirmed" if CONFIRMED.exists() else "restored")
    _forget(TRIAL, APPLIED, SEEN, CONFIRMED, PLAN)


def _switch(names: dict[str, str], built: list[str], daemon: str, wished: dict[str, dict[str, bool]]) -> None:
    """Strip the ports of what is over them and their addresses, name them, and start what configures them."""
    _run("systemctl", "stop", *(unit for units in DAEMONS.values() for unit in units if _is_loaded(unit)))
    over = [link for name in names for link in _over(name)]
    for link in dict.fromkeys([*over, *built]):
        if (LINKS / link).exists():
            _run("ip", "link", "delete", link)
    for name in names:
        _run("ip", "address", "flush", "dev", name)
        _run("ip", "link", "set", name, "down")  # kernels before 6.2 rename no port that is up
    _run("udevadm", "control", "--reload")
    moved = {old: new for old, new in names.items() if old != new}
    for number, name in enumerate(moved):
        _run("ip", "link", "set", name, "name", f"rackwright{number}")  # two ports may change their names
    for number, name in enumerate(moved.values()):
        _run("ip", "link", "set", f"rackwright{number}", "name", name)
    if daemon == "netplan":
        _run("netplan", "generate")
    for each, state in wished.items():
        units = [unit for unit in DAEMONS[each] if _is_loaded(unit)]
        if units:
            _run("systemctl", "enable" if state["enabled"] else "disable", *units)
            _run("systemctl", "start" if state["active"] else "stop", *units)


def _over(name: str) -> list[str]:
    """Bonds, VLANs and bridges over a link, those on top first."""
    found: list[str] = []
    for path in sorted(LINKS.glob(f"{name}/upper_*")):
        link = path.name[len("upper_") :]
        kind = _text(LINKS / link / "uevent")
        if any(f"DEVTYPE={each}" in kind for each in ("bond", "vlan", "bridge")):
            found += [*_over(link), link]
    return found


def _daemons() -> dict[str, dict[str, bool]]:
    """What configures the network now, and at boot."""
    return {
        name: {"active": _is("is-active", units[-1]), "enabled": _is("is-enabled", units[-1])}
        for name, units in DAEMONS.items()
        if _is_loaded(units[-1])
    }


def _is(question: str, unit: str) -> bool:
    return subprocess.run(["systemctl", question, "--quiet", unit], check=False).returncode == 0


def _is_loaded(unit: str) -> bool:
    shown = subprocess.run(
        ["systemctl", "show", "--property=LoadState", unit], check=False, stdout=subprocess.PIPE, text=True
    )
    return shown.stdout.strip() == "LoadState=loaded"


def _answers(address: str) -> bool:
    """A router may drop pings; that it has told its MAC address is proof enough."""
    subprocess.run(["ping", "-n", "-c", "1", "-W", "2", address], check=False, stdout=subprocess.DEVNULL)
    shown = subprocess.run(["ip", "-j", "neighbour", "show", address], check=False, stdout=subprocess.PIPE, text=True)
    return any("lladdr" in each and "FAILED" not in each["state"] for each in json.loads(shown.stdout or "[]"))


def _run(*command: str) -> None:
    """A step that fails is told to the journal and the next one is taken: half a network is worse than most of one."""
    code = subprocess.run(command, check=False).returncode
    if code:
        print(f"{' '.join(command)}: exit code {code}", flush=True)


def _put(files: dict[str, str | None]) -> None:
    for name, text in files.items():
        if text is None:
            _forget(Path(name))
        else:
            _save(Path(name), text, 0o600 if name.startswith(PRIVATE) else 0o644)


def _save(path: Path, text: str, mode: int = 0o600) -> None:
    """Whole or not at all, also where the power goes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.rackwright")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    _sync(path.parent)


def _forget(*paths: Path) -> None:
    for path in paths:
        if path.exists():
            path.unlink()
            _sync(path.parent)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""


@contextmanager
def _lock() -> Iterator[None]:
    STATE.mkdir(parents=True, exist_ok=True)
    with (STATE / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


COMMANDS = {"begin": begin, "ask": ask, "confirm": confirm, "try": trial, "restore": restore, "boot": boot}


def main(arguments: list[str]) -> int:
    """One command, with its argument."""
    command: Any = COMMANDS[arguments[0]]
    if arguments[0] == "try":
        return int(command(float(arguments[1])))
    return int(command(*arguments[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
