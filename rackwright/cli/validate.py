"""`rackwright validate`: every fault of a site file."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from rackwright.cli import options
from rackwright.errors import Refusal

if TYPE_CHECKING:
    from rackwright.site.site import Site

NOT_LOOKED_AT = "the machines, the cluster, and whether the weights are where the file says; only the file was read"


def validate(context: typer.Context, site: options.Site, *, json: options.Json = False) -> None:
    """Show every fault of a site file, with its line and cure."""
    from rackwright.site.catalog import Catalog
    from rackwright.site.notes import notes as notes_of
    from rackwright.site.site import Site

    output = options.output_of(context, json=json)
    found = Site.load(site)
    notes = [str(note) for note in notes_of(found, Catalog.load())]
    notes += [_vault(found, site), f"Not looked at: {NOT_LOOKED_AT}."]
    file = site / options.FILE_NAME
    summary = {
        "hosts": len(found.hosts),
        "gpus": sum(host.gpu_count for host in found.hosts),
        "models": len(found.models),
        "tenants": len(found.tenants),
    }
    counted = ", ".join(f"{name} {count}" for name, count in summary.items())
    phases = " and ".join(str(phase) for phase in found.phases)
    output.result(
        "\n".join([f"{file}: no fault ({counted}, phase {phases}).", *(f"Note: {note}" for note in notes)]),
        {"succeeded": True, "file": str(file), "site": found.name, "phases": found.phases, **summary}
        | {"faults": [], "notes": notes},
    )


def _vault(site: "Site", folder: Path) -> str:
    """What is to be said of the site's vault; it is no part of the site file, so nothing of it is a fault here."""
    from rackwright.secrets import Vault, complete, required

    try:
        vault = Vault.of(folder)
        names = required(site)
        if not vault.exists():
            return f"There is no vault yet: {vault.make} makes it, with {len(names)} secrets."
        complete(site, vault.read(), folder)
    except Refusal as refusal:
        return f"{refusal.what} {refusal.cure}"
    return f"The vault has all {len(names)} secrets."
