"""Whether a vault holds what its site needs: every name, no other, and none of them weak."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rackwright.errors import Refusal
from rackwright.secrets.required import Secret, required
from rackwright.secrets.vault import Vault
from rackwright.site.reading.nearest import nearest
from rackwright.site.site import Site


@dataclass(frozen=True)
class Unfit:
    """One secret that is missing, unknown, weak or used twice; never its value."""

    name: str
    what: str
    cure: str

    def __str__(self) -> str:
        return f"{self.name}: {self.what}; {self.cure}"


class VaultRefused(Refusal):
    """A vault that opens, but does not hold what its site needs."""

    def __init__(self, file: Path, faults: list[Unfit]) -> None:
        self.file = file
        self.faults = faults
        noun = "fault" if len(faults) == 1 else "faults"
        super().__init__(f"{file} has {len(faults)} {noun}:", "\n".join(f"{file}: {fault}" for fault in faults))


def complete(site: Site, values: Mapping[str, str], folder: Path) -> None:
    """Raise VaultRefused, with all faults, unless the vault of a site's folder holds exactly what the site needs."""
    faults = list(unfit(site, values, folder))
    if faults:
        raise VaultRefused(Vault.of(folder).file, faults)


def unfit(site: Site, values: Mapping[str, str], folder: Path) -> Iterator[Unfit]:
    """Everything that is wrong with the secrets of a site."""
    wanted = {secret.name: secret for secret in required(site)}
    vault = Vault.of(folder)
    edit = vault.edit
    for secret in wanted.values():
        if secret.name not in values:
            yield Unfit(secret.name, f"is missing ({secret.purpose.rstrip('.')})", vault.make)
    for name in values:
        if name not in wanted and not name.startswith("ansible_"):
            cure = nearest(name, [known for known in wanted if known not in values])
            yield Unfit(name, "is not a secret of this site", f"{cure if cure.endswith('?') else 'remove it'}: {edit}")
    yield from _weak(wanted, values, edit)


def _weak(wanted: Mapping[str, Secret], values: Mapping[str, str], edit: str) -> Iterator[Unfit]:
    owners: dict[str, str] = {}
    for name, secret in wanted.items():
        if name not in values:
            continue
        reason = secret.fault(values[name])
        owner = owners.setdefault(values[name], name)
        if reason:
            yield Unfit(name, reason, f"write a stronger one: {edit}")
        elif owner != name:
            yield Unfit(name, f"has the same value as {owner}", f"give each its own: {edit}")
