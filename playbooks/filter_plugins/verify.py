"""What the role verify asks a host."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleFilterError

from rackwright.errors import Refusal
from rackwright.site.site import Site
from rackwright.verify import asked


class FilterModule:
    """The filters, by the name that Ansible looks for."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Filters by their name in a play."""
        return {"verify_questions": verify_questions}


def verify_questions(folder: str, host: str, phase: int | str) -> dict[str, Any]:
    """The questions to one host in a phase, out of the site in a folder."""
    site = _site(Path(folder))
    found = next((each for each in site.hosts if each.name == host), None)
    number = int(phase)
    if found is None or number not in (1, 2):
        raise AnsibleFilterError(f"There is no host {host} with a phase {phase} in {folder}.")
    return asked(site, found, 1 if number == 1 else 2)


@cache
def _site(folder: Path) -> Site:
    try:
        return Site.load(folder)
    except Refusal as refusal:
        raise AnsibleFilterError(f"{refusal.what} {refusal.cure}") from None
