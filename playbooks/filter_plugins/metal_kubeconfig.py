"""The file that opens a cluster, for the machine that runs Ansible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from rackwright.errors import Refusal
from rackwright.metal.kubeconfig import kubeconfig, refuse_another


class FilterModule:
    """The filters, by the name that Ansible looks for."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Filters by their name in a play."""
        return {"kubeconfig": opened(kubeconfig), "kubeconfig_in_place_of": opened(_in_place_of)}


def opened(function: Callable[..., str]) -> Callable[..., str]:
    """A function whose refusal a play shows."""

    def filtered(*arguments: str) -> str:
        try:
            return function(*(str(each) for each in arguments))
        except Refusal as refusal:
            raise AnsibleFilterError(f"{refusal.what} {refusal.cure}") from None

    return filtered


def _in_place_of(wished: str, found: str, path: str) -> str:
    return refuse_another(found, wished, path)
