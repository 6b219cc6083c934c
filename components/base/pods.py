"""What our own pods are held to, whatever runs in them: what the strictest Pod Security level asks, and more."""

from typing import Any


def as_nobody(user: int, *, owns_volumes: bool = False) -> dict[str, Any]:
    """A pod's security context: one user without rights, who may be let write into its volumes."""
    return {
        "runAsNonRoot": True,
        "runAsUser": user,
        "runAsGroup": user,
        **({"fsGroup": user} if owns_volumes else {}),
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def shut_in() -> dict[str, Any]:
    """A container's security context: nothing beyond its own, and nowhere to write but in its volumes."""
    return {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
