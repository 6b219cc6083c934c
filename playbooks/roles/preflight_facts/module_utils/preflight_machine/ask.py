"""All questions to this machine, asked side by side; what cannot be seen is said, and never ends the rest."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from . import network, packages, pci, probes, services, storage, system


def ask(questions: dict[str, Any]) -> dict[str, Any]:
    """Every section of the answer; a section that failed is nothing, and `unseen` says why."""
    started = time.monotonic()
    answers: dict[str, Any] = {"root": os.geteuid() == 0, "unseen": {}}
    with ThreadPoolExecutor(8) as pool:
        running = {name: pool.submit(section) for name, section in _sections(questions).items()}
        for name, future in running.items():
            answers[name] = _answer(name, future.result, answers["unseen"])
    # Alone and last: the others would take the disk's and the processor's time from what is measured.
    measured = "" if services.run_a_node(answers["services"]) else questions["flush_folder"]
    answers["flush"] = _answer("flush", lambda: _flush(measured), answers["unseen"])
    answers["seconds"] = round(time.monotonic() - started, 2)
    return answers


def _sections(questions: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    wanted = [name.replace("{kernel}", platform.release()) for name in questions["packages"]]
    return {
        "paths": lambda: network.paths(questions["peers"], questions["doors"]),
        "packages": lambda: packages.packages(wanted),
        "addresses": lambda: packages.addresses(questions["urls"]),
        "lookups": lambda: system.lookups(questions["names"]),
        "clock": lambda: system.clock(questions["time_servers"]),
        "disks": lambda: storage.disks(questions["disks"]),
        "system": system.system,
        "swap": system.swap,
        "gpus": pci.gpus,
        "network": network.network,
        "services": services.services,
        "leftovers": lambda: services.leftovers(questions["token_salt"]),
    }


def _flush(folder: str) -> dict[str, Any] | None:
    """Nothing where it is not asked for; an etcd that runs would wait behind it, and tells its own times."""
    return probes.flush_time(folder) if folder else None


def _answer(name: str, section: Callable[[], Any], unseen: dict[str, str]) -> Any:
    try:
        return section()
    except Exception as error:  # noqa: BLE001 - one section must not hide the others, and what failed is said
        unseen[name] = f"{type(error).__name__}: {error}"
        return None
