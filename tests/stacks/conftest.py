"""The stack's program, run against Pulumi's mocks: what it registers, and with what."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pulumi
import pytest
from pulumi.runtime import get_root_resource
from pulumi.runtime.mocks import MockMonitor, Mocks

from components.base import Chart
from rackwright.secrets import required
from rackwright.site.catalog import Catalog
from rackwright.site.site import Site
from stacks import phase1
from stacks.given import Given

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Registered:
    """What one run of the program registered, in order."""

    resources: list[Any] = field(default_factory=list)
    outputs: dict[str, Any] = field(default_factory=dict)

    def named(self, name: str, kind: str = "") -> Any:
        (found,) = [each for each in self.resources if each.name == name and each.type.endswith(kind)]
        return found


class _Mocks(Mocks):
    def new_resource(self, args):
        return [f"{args.name}-id", args.inputs]

    def call(self, args):
        raise AssertionError(args.token)


class _Monitor(MockMonitor):
    def __init__(self, registered: Registered) -> None:
        super().__init__(_Mocks())
        self.registered = registered

    def RegisterResource(self, request):  # noqa: N802 - gRPC's name
        self.registered.resources.append(request)
        return super().RegisterResource(request)


@pytest.fixture(scope="session")
def lay() -> Callable[..., Registered]:
    """Run phase 1's wiring for a site."""

    done: dict[str, Registered] = {}

    def run(site: Site, folder: Path | None = None) -> Registered:
        if folder is None and site.name in done:
            return done[site.name]
        registered = done[site.name] = Registered()
        asyncio.set_event_loop(asyncio.new_event_loop())  # Pulumi wants one, and whoever ran one before took it away
        pulumi.runtime.set_mocks(_Mocks(), "rackwright", "phase1", monitor=_Monitor(registered))
        pulumi.runtime.test(lambda: phase1.lay(given(site, folder)))()
        registered.outputs = dict(get_root_resource().outputs)
        if folder is not None:
            del done[site.name]
        return registered

    return run


def given(site: Site, folder: Path | None) -> Given:
    catalog = Catalog.load()
    cluster = site.cluster(1)
    assert cluster is not None
    return Given(
        site=site,
        catalog=catalog,
        cluster=cluster,
        hosts=site.hosts_in(1),
        charts={name: Chart(name, pin, folder) for name, pin in catalog.charts.items()},
        secrets={each.name: pulumi.Output.secret(f"canary-{each.name}") for each in required(site)},
        options=pulumi.ResourceOptions(),
    )


@pytest.fixture(scope="session", params=("example", "lab", "workstation"))
def site(request) -> Site:
    return Site.load(ROOT / "inventory" / request.param)


@pytest.fixture(scope="session")
def example() -> Site:
    return Site.load(ROOT / "inventory" / "example")
