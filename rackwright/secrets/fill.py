"""Fills a vault with what is missing, and keeps every value that is there."""

import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rackwright.errors import Refusal
from rackwright.secrets import cipher, private_file
from rackwright.secrets.required import ALPHABET, Secret, required
from rackwright.secrets.strength import weakness
from rackwright.secrets.vault import PASSWORD_NAME, Vault
from rackwright.site.site import Site

PASSWORD_LENGTH = 48
SHORTEST_PASSWORD = 12

Give = Callable[[Secret], str | None]


@dataclass(frozen=True)
class Filled:
    """What `fill` did: names only."""

    vault: Vault
    kept: tuple[str, ...]
    generated: tuple[str, ...]
    given: tuple[str, ...]
    missing: tuple[Secret, ...]
    made_password: bool


def fill(site: Site, vault: Vault, give: Give) -> Filled:
    """Make or extend a vault: generate what can be generated, take the rest from `give`, which may have nothing."""
    wanted = required(site)
    with vault.locked(), _no_password_alone(vault):
        is_new = not vault.exists()
        made_password = is_new and _ensure_password(vault)
        kept = {} if is_new else vault.read()
        absent = [secret for secret in wanted if secret.name not in kept]
        generated = {secret.name: secret.generate() for secret in absent if secret.generated}
        given = _given([secret for secret in absent if not secret.generated], give)
        if generated or given or is_new:
            vault.write(_in_order(wanted, kept | generated | given), wanted)
    missing = tuple(secret for secret in absent if secret.name not in generated | given)
    return Filled(vault, tuple(kept), tuple(generated), tuple(given), missing, made_password)


def throw_away(site: Site, folder: Path) -> Vault:
    """A vault of random values with a password of its own in an empty folder, for a rehearsal."""
    vault = Vault(Vault.of(folder).file, folder / PASSWORD_NAME)
    fill(site, vault, Secret.generate)
    return vault


@contextmanager
def _no_password_alone(vault: Vault) -> Iterator[None]:
    """Take away a password that was made for a vault which then could not be: nobody was told of it."""
    had_password = os.path.lexists(vault.password_file)
    try:
        yield
    except BaseException:
        if not had_password and not vault.file.exists():
            vault.password_file.unlink(missing_ok=True)
        raise


def _ensure_password(vault: Vault) -> bool:
    if not vault.password_file.exists() and vault.password_file.name == PASSWORD_NAME:
        password = "".join(secrets.choice(ALPHABET) for _ in range(PASSWORD_LENGTH))
        private_file.create(vault.password_file, f"{password}\n".encode())
        return True
    reason = weakness(cipher.password(vault.password_file).decode(errors="replace"), shortest=SHORTEST_PASSWORD)
    if reason:
        raise Refusal(f"The vault's password in {vault.password_file} {reason}.", "Put a random one there.")
    return False


def _given(absent: list[Secret], give: Give) -> dict[str, str]:
    values: dict[str, str] = {}
    for secret in absent:
        value = give(secret)
        if not value:
            continue
        reason = secret.fault(value)
        if reason:
            raise Refusal(f"{secret.name} {reason}.", "Give the value that its issuer shows; nothing was written.")
        values[secret.name] = value
    return values


def _in_order(wanted: tuple[Secret, ...], values: Mapping[str, str]) -> dict[str, str]:
    known = {secret.name: values[secret.name] for secret in wanted if secret.name in values}
    return known | dict(values)
