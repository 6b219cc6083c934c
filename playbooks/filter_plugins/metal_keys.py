"""Who signs a repository, out of the file of its key."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any

from ansible.errors import AnsibleFilterError

from rackwright.errors import Refusal
from rackwright.metal.openpgp import fingerprints


class FilterModule:
    """The filters, by the name that Ansible looks for."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Filters by their name in a play."""
        return {"strange_keys": strange_keys}


def strange_keys(content: str, known: Sequence[str]) -> list[str]:
    """Fingerprints of keys in a file (as slurp has it) that are not known."""
    try:
        found = fingerprints(base64.b64decode(content))
    except Refusal as refusal:
        raise AnsibleFilterError(f"{refusal.what} {refusal.cure}") from None
    return [each for each in found if each not in [str(one) for one in known]]
