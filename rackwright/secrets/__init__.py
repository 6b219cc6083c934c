"""The secrets of a site: which it needs, how strong they must be, and the one vault that holds them."""

from rackwright.secrets.complete import Unfit, VaultRefused, complete, unfit
from rackwright.secrets.fill import fill, throw_away
from rackwright.secrets.required import Secret, required
from rackwright.secrets.vault import Vault, open_vault

__all__ = [
    "Secret",
    "Unfit",
    "Vault",
    "VaultRefused",
    "complete",
    "fill",
    "open_vault",
    "required",
    "throw_away",
    "unfit",
]
