"""What a stack is given: the site, its secrets, its charts and its cluster."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pulumi
from pulumi_kubernetes import Provider

from components.base import Chart
from components.base.network import Rule, to_api
from components.base.objects import KubernetesObject
from rackwright.errors import Refusal
from rackwright.observe import baseline
from rackwright.observe.baseline import Baseline
from rackwright.secrets import complete, open_vault
from rackwright.secrets.authority import NAME as AUTHORITY
from rackwright.secrets.authority import read as read_authority
from rackwright.site.awaiting import awaiting
from rackwright.site.catalog import Catalog
from rackwright.site.clusters import Cluster
from rackwright.site.hosts import Host, Phase
from rackwright.site.postgresql import DATABASES, Databases
from rackwright.site.site import Site
from rackwright.user_path import user_path
from stacks.cluster import look, mark, refuse_foreign, refuse_giving_up

ROOT = Path(__file__).resolve().parents[1]  # paths of the configuration are relative to it, as they are written


@dataclass(frozen=True)
class Given:
    """Everything that wiring needs of the world."""

    site: Site
    phase: Phase
    catalog: Catalog
    cluster: Cluster
    hosts: tuple[Host, ...]
    charts: Mapping[str, Chart]
    secrets: Mapping[str, pulumi.Output[str]]
    authority: tuple[pulumi.Input[str], pulumi.Input[str]]  # certificate and key, in PEM
    options: pulumi.ResourceOptions
    baseline: Baseline | None = None  # what a load test measured, where there was one
    share: int = 0  # percent of phase 1's sessions that go on to phase 2's door
    databases: Databases = "own"

    @property
    def servers(self) -> tuple[Host, ...]:
        """Hosts on which models may be served."""
        return tuple(host for _, host in self.site.numbered_servers_in(self.phase))

    @property
    def counts_tokens(self) -> bool:
        """True where a tenant may use so many tokens and no more."""
        return any(tenant.limits.tokens_per_minute is not None for tenant in self.site.tenants)

    @property
    def to_api(self) -> Rule:
        """The way to the cluster's API."""
        return to_api(self.cluster, self.hosts)

    @property
    def inside(self) -> tuple[str, ...]:
        """Networks that are not the outside world."""
        nodes, storage = self.site.networks.nodes, self.site.networks.storage
        own = (self.cluster.pods, self.cluster.services, nodes.cidr, *((storage.cidr,) if storage else ()))
        return tuple(str(network) for network in own)


def read(phase: Phase) -> Given:
    """Read the configuration and what it names; Refusal before anything is registered."""
    config = pulumi.Config("rackwright")
    place = ROOT / (config.get("site") or "inventory/example")
    site, catalog = Site.load(place), Catalog.load()
    cluster = site.cluster(phase)
    if cluster is None:
        raise Refusal(f"{site.name} has no phase {phase}.", f"Write clusters.phase{phase} into its site.yml.")
    vault = ROOT / (config.get("secrets") or place)
    kubeconfig = ROOT / user_path(config.get("kubeconfig") or cluster.kubeconfig)
    with ThreadPoolExecutor() as beside:
        seen = beside.submit(look, kubeconfig)  # while the vault is opened, which takes as long
        values = open_vault(vault)
    complete(site, values, vault)
    authority = read_authority(values[AUTHORITY])
    awaited = _awaited(config, phase)
    databases = _databases(config, site, phase)
    refuse_foreign(site, phase, catalog, seen.result(), kubeconfig, awaited)
    refuse_giving_up(seen.result(), databases)
    if awaited:
        pulumi.export("awaits", list(awaited))  # by which the rollout knows what the last update stood on
    site = awaiting(site, awaited, catalog)
    folder = config.get("charts")
    return Given(
        site=site,
        phase=phase,
        catalog=catalog,
        cluster=cluster,
        hosts=site.hosts_in(phase),
        charts={name: Chart(name, pin, ROOT / folder if folder else None) for name, pin in catalog.charts.items()},
        secrets={name: pulumi.Output.secret(value) for name, value in values.items()},
        authority=(authority.certificate, pulumi.Output.secret(authority.key)),
        options=_options(site, phase, kubeconfig, awaited, databases),
        baseline=baseline.load(place),
        share=_share(config, site, phase),
        databases=databases,
    )


def _share(config: pulumi.Config, site: Site, phase: Phase) -> int:
    """What the rollout has set; Refusal where it cannot be meant."""
    share = config.get_int("share") or 0
    if not 0 <= share <= 100:
        raise Refusal(f"rackwright:share is {share}, and no percentage.", "Set it from 0 to 100.")
    if share and (phase != 1 or site.phases != (1, 2)):
        raise Refusal(
            f"rackwright:share is {share}, and phase {phase} of {site.name} has no phase 2 to send anybody to.",
            "Set it for the stack phase1 of a site with both phases, or remove it: pulumi config rm rackwright:share.",
        )
    return share


def _awaited(config: pulumi.Config, phase: Phase) -> tuple[str, ...]:
    """Hosts that join later, since phase 1 still needs them; Refusal where that cannot be meant."""
    names = tuple(word.strip() for word in (config.get("awaits") or "").split(",") if word.strip())
    if names and phase != 2:
        raise Refusal(
            f"rackwright:awaits is {', '.join(names)}, and hosts join phase 2 alone.",
            f"Remove it: pulumi config rm -s phase{phase} rackwright:awaits.",
        )
    return names


def _databases(config: pulumi.Config, site: Site, phase: Phase) -> Databases:
    """What the rollout has set; Refusal where it cannot be meant."""
    told = config.get("databases") or "own"
    found = next((each for each in DATABASES if each == told), None)
    remove = f"Remove it: pulumi config rm -s phase{phase} rackwright:databases."
    if found is None:
        raise Refusal(f"rackwright:databases is {told}, and none of {', '.join(DATABASES)}.", remove)
    if found != "own" and (phase != 2 or site.phases != (1, 2)):
        raise Refusal(
            f"rackwright:databases is {told}, and phase {phase} of {site.name} has nobody's databases to copy.", remove
        )
    return found


def _options(
    site: Site, phase: Phase, kubeconfig: Path, awaited: tuple[str, ...], databases: Databases
) -> pulumi.ResourceOptions:
    """The cluster's provider; the kubeconfig is named, not copied, so that its keys never come into the state."""
    provider = Provider(
        "cluster",
        kubeconfig=str(kubeconfig),
        cluster_identifier=f"{site.name}-phase{phase}",  # a kubeconfig elsewhere is still the same cluster
        suppress_helm_hook_warnings=True,
    )
    options = pulumi.ResourceOptions(provider=provider)
    KubernetesObject("mark", mark(site.name, phase, awaited, databases), options)
    return options
