"""`rackwright check`: a cluster against its site."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rackwright.cli import options
from rackwright.errors import Refusal
from rackwright.user_path import user_path

if TYPE_CHECKING:
    from rackwright.site.site import Site


def check(
    context: typer.Context,
    site: options.Site,
    *,
    phase: options.Phase = 1,
    kubeconfig: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Opens the cluster; else the file that the site names.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Look whether a cluster is what its site says, and answers."""
    from rackwright.checks import check
    from rackwright.sandbox import tools
    from rackwright.site.catalog import Catalog
    from rackwright.site.site import Site

    output = options.output_of(context, json=json)
    found = Site.load(site)
    cluster = found.cluster(options.phase_of(phase))
    if cluster is None:
        raise Refusal(
            f"The site {found.name} has no phase {phase}.", f"Its phases: {', '.join(map(str, found.phases))}."
        )
    toolbox = tools.find(("kubectl",))
    outcome = check(
        found,
        options.phase_of(phase),
        Catalog.load(),
        kubeconfig=kubeconfig or user_path(cluster.kubeconfig),
        kubectl=toolbox["kubectl"].path if "kubectl" in toolbox else "kubectl",
        tenant_keys=_keys(found, site),
        progress=output.progress,
    )
    output.result(outcome.text(), outcome.as_json())
    if not outcome.succeeded:
        raise typer.Exit(1)


def _keys(site: "Site", folder: Path) -> Mapping[str, str]:
    """The tenants' keys by their names in the vault; none where the site has no vault."""
    from rackwright.secrets import Vault, complete

    vault = Vault.of(folder)
    if not vault.exists():
        return {}
    values = vault.read()
    complete(site, values, folder)
    return {tenant.key: values[tenant.key] for tenant in site.tenants}
