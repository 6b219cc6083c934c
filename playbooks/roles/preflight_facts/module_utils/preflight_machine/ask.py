"""All questions to this machine, asked side by side; what cannot be seen is said, and never ends the rest."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .network import network, paths
from .packages import addresses, packages
from .pci import gpus
from .probes import flush_time
from .services import leftovers, run_a_node, services
from .storage import disks
from .system import clock, lookups, swap, system


def ask(questions: dict[str, Any]) -> dict[str, Any]:
    """Every section of the answer; a section that failed is nothing, and `unseen` says why."""
    started = time.monotonic()
    answers: dict[str, Any] = {"root": os.geteuid() == 0, "unseen": {}}
    with ThreadPoolExecutor(8) as pool:
        running = {name: pool.submit(section) for name, section in _sections(questions).items()}
        for name, future in running.items():
            answers[name] = _answer(name, future.result, answers["unseen"])
    # Alone and last: the others would take the disk's and the processor's time from what is measured.
    measured = "" if run_a_node(answers["services"]) else questions["flush_folder"]
    answers["flush"] = _answer("flush", lambda: _flush(measured), answers["unseen"])
    answers["seconds"] = round(time.monotonic() - started, 2)
    return answers


def _sections(questions: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    wanted = [name.replace("{kernel}", platform.release()) for name in questions["packages"]]
    return {
        "paths": lambda: paths(questions["peers"], questions["doors"]),
        "packages": lambda: packages(wanted),
        "addresses": lambda: addresses(questions["urls"]),
        "lookups": lambda: lookups(questions["names"]),
        "clock": lambda: clock(questions["time_servers"]),
        "disks": lambda: disks(questions["disks"]),
        "system": system,
        "swap": swap,
        "gpus": gpus,
        "network": network,
        "services": services,
        "leftovers": lambda: leftovers(questions["token_salt"]),
    }


def _flush(folder: str) -> dict[str, Any] | None:
    """Nothing where it is not asked for; an etcd that runs would wait behind it, and tells its own times."""
    return flush_time(folder) if folder else None


def _answer(name: str, section: Callable[[], Any], unseen: dict[str, str]) -> Any:
    try:
        return section()
    except Exception as error:  # noqa: BLE001 - one section must not hide the others, and what failed is said
        unseen[name] = f"{type(error).__name__}: {error}"
        return None
