"""What preflight asks a host, for the arguments of the role preflight_facts."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleFilterError

from rackwright.errors import Refusal
from rackwright.preflight import questions
from rackwright.preflight.upstream import mirrored
from rackwright.site.catalog import Catalog
from rackwright.site.site import Site


class FilterModule:
    """The filters, by the name that Ansible looks for."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Filters by their name in a play."""
        return {"preflight_questions": preflight_questions}


def preflight_questions(folder: str, host: str, phase: int | str, salt: int | str, k3s: str = "") -> dict[str, Any]:
    """The questions to one host in a phase, out of the site in a folder; `k3s` is its source, where it is another."""
    site = _site(Path(folder))
    found = next((each for each in site.hosts if each.name == host), None)
    number = int(phase)
    if found is None or number not in (1, 2):
        raise AnsibleFilterError(f"There is no host {host} with a phase {phase} in {folder}.")
    return questions(site, found, 1 if number == 1 else 2, mirrored(Catalog.load(), str(k3s)), str(salt))


@cache
def _site(folder: Path) -> Site:
    try:
        return Site.load(folder)
    except Refusal as refusal:
        raise AnsibleFilterError(f"{refusal.what} {refusal.cure}") from None
