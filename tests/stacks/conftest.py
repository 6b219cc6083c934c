"""The stack's program, run against Pulumi's mocks: what it registers, and with what."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pulumi
import pytest
from google.protobuf import json_format
from pulumi.runtime import get_root_resource
from pulumi.runtime.mocks import MockMonitor, Mocks
from pulumi.runtime.settings import ROOT as STACK

from components.base import Chart
from rackwright.secrets import required
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Phase
from rackwright.site.postgresql import Databases
from rackwright.site.site import Site
from stacks import phase1, phase2
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

    def manifest(self, name: str, kind: str = "") -> dict[str, Any]:
        """A resource's own words."""
        return json_format.MessageToDict(self.named(name, kind).object)

    def names(self, kind: str) -> set[str]:
        """Names of all of a kind."""
        return {each.name for each in self.resources if each.type.endswith(f":{kind}")}


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
    """Run a phase's wiring for a site."""

    done: dict[tuple[str, Phase, Databases], Registered] = {}

    def run(site: Site, folder: Path | None = None, phase: Phase = 1, databases: Databases = "own") -> Registered:
        asked = (site.name, phase, databases)
        if folder is None and asked in done:
            return done[asked]
        registered = done[asked] = Registered()
        wiring = phase1 if phase == 1 else phase2
        asyncio.set_event_loop(asyncio.new_event_loop())  # Pulumi wants one, and whoever ran one before took it away
        STACK.set(None)  # else what one run registers is the first one's child, and its outputs too
        pulumi.runtime.set_mocks(_Mocks(), "rackwright", f"phase{phase}", monitor=_Monitor(registered))
        pulumi.runtime.test(lambda: wiring.lay(given(site, folder, phase, databases)))()
        registered.outputs = dict(get_root_resource().outputs)
        if folder is not None:
            del done[asked]
        return registered

    return run


def given(site: Site, folder: Path | None, phase: Phase, databases: Databases) -> Given:
    catalog = Catalog.load()
    cluster = site.cluster(phase)
    assert cluster is not None
    return Given(
        site=site,
        phase=phase,
        catalog=catalog,
        cluster=cluster,
        hosts=site.hosts_in(phase),
        charts={name: Chart(name, pin, folder) for name, pin in catalog.charts.items()},
        secrets={each.name: pulumi.Output.secret(f"canary-{each.name}") for each in required(site)},
        authority=("the certificate", pulumi.Output.secret("canary-key-of-the-authority")),
        options=pulumi.ResourceOptions(),
        databases=databases,
    )


@pytest.fixture(scope="module")
def rack(request, lay) -> Registered:
    """What phase 2 registers of the site that a file of tests is about: its SITE."""
    return lay(request.module.SITE, phase=2)


@pytest.fixture(scope="session", params=("example", "lab", "workstation"))
def site(request) -> Site:
    return Site.load(ROOT / "inventory" / request.param)


@pytest.fixture(
    scope="session",
    params=(("example", 1), ("lab", 1), ("workstation", 1), ("lab", 2), ("kserve_rack", 2), ("spanning", 2)),
    ids=str,
)
def laid(request, lay) -> Registered:
    """What a phase of a site registers."""
    name, phase = request.param
    sample, shape = ROOT / "inventory" / name, ROOT / "tests" / "fixtures" / "valid" / f"{name}.yml"
    return lay(Site.load(sample if sample.exists() else shape), phase=phase)


@pytest.fixture(scope="session")
def example() -> Site:
    return Site.load(ROOT / "inventory" / "example")
