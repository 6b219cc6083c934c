"""A whole rehearsed platform on a real control plane, which each test breaks in one place and mends again."""

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from broken_objects import fresh

from rackwright.checks.access import Access
from rackwright.checks.findings import Finding, Outcome
from rackwright.checks.objects import Objects
from rackwright.checks.run import CHECKS, Ground
from rackwright.sandbox.control_plane import ControlPlane
from rackwright.sandbox.kubectl import Kubectl
from rackwright.sandbox.rehearsal import rehearse
from rackwright.sandbox.report import Report
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Phase
from rackwright.site.site import Site

INVENTORY = Path(__file__).resolve().parents[2] / "inventory"
ANSWERS = {check.name: check for check in CHECKS}


@dataclass
class Platform:
    """A cluster with everything on it, and what the site wishes of it."""

    report: Report
    kubectl: Kubectl
    access: Access
    site: Site
    catalog: Catalog
    phase: Phase = 1

    def failures(self, check: str, site: Site | None = None, objects: Objects | None = None) -> list[Finding]:
        """What one check has against the cluster as it is now."""
        ground = Ground(objects or self.access.objects(), self.access, site or self.site, self.phase, self.catalog)
        return [each for each in ANSWERS[check].look(ground) if each.outcome is Outcome.FAILED]

    def get(self, kind: str, name: str, namespace: str = "") -> dict:
        where = ("--namespace", namespace) if namespace else ()
        return json.loads(self.kubectl("get", kind, name, *where, "--output=json"))

    def until_whole(self) -> None:
        """Wait until nothing is wrong any more: what a test took away is back, with all that operators make of it."""
        deadline = time.monotonic() + 120
        while wrong := self._wrong():
            assert time.monotonic() < deadline, f"not mended after a test: {wrong}"
            time.sleep(0.2)

    def _wrong(self) -> list[Finding]:
        objects = self.access.objects()
        return [fault for check in ANSWERS for fault in self.failures(check, objects=objects)]

    @contextmanager
    def without(self, kind: str, name: str, namespace: str = "") -> Iterator[None]:
        """Without an object, for the time of the block."""
        before = self.get(kind, name, namespace)
        where = ("--namespace", namespace) if namespace else ()
        self.kubectl("delete", kind, name, *where, "--cascade=foreground")
        try:
            yield
        finally:
            self.kubectl("create", "--filename=-", given=json.dumps(fresh(before)))

    @contextmanager
    def changed(
        self, kind: str, name: str, namespace: str, patch: dict | list, subresource: str = ""
    ) -> Iterator[None]:
        """With an object changed, for the time of the block."""
        before = self.get(kind, name, namespace)
        where = [
            *(("--namespace", namespace) if namespace else ()),
            *((f"--subresource={subresource}",) if subresource else ()),
        ]
        form = "json" if isinstance(patch, list) else "merge"
        self.kubectl("patch", kind, name, *where, f"--type={form}", "--patch", json.dumps(patch))
        try:
            yield
        finally:
            part = "status" if subresource else "spec"
            undo = [{"op": "replace", "path": f"/{part}", "value": before[part]}]
            self.kubectl("patch", kind, name, *where, "--type=json", "--patch", json.dumps(undo))

    @contextmanager
    def added(self, *objects: dict) -> Iterator[None]:
        """With further objects, for the time of the block."""
        self.kubectl("create", "--filename=-", given=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        try:
            yield
        finally:
            for each in objects:
                self.kubectl.delete(each["kind"], each["metadata"]["name"], namespace=each["metadata"].get("namespace"))


@contextmanager
def rehearsed(toolbox, say, site: Path, phase: Phase) -> Iterator[Platform]:
    """A platform that is kept as long as the block."""
    report = rehearse(site, phase, keep=True, progress=lambda line: say(line) if line.startswith("==") else None)
    kubeconfig = Path(report.kept["kubeconfig"])
    program = toolbox["kubectl"].path
    access = Access(kubeconfig, program)
    try:
        yield Platform(report, Kubectl(program, kubeconfig), access, Site.load(site), Catalog.load(), phase)
    finally:
        ControlPlane.end(report.kept["name"])


@pytest.fixture(scope="session")
def platform(toolbox, say) -> Iterator[Platform]:
    with rehearsed(toolbox, say, INVENTORY / "workstation", 1) as found:
        yield found


@pytest.fixture(scope="module")
def rack(toolbox, say) -> Iterator[Platform]:
    with rehearsed(toolbox, say, INVENTORY / "lab", 2) as found:
        yield found


@pytest.fixture(scope="module")
def rack_of_groups(toolbox, say, tmp_path_factory) -> Iterator[Platform]:
    """With a model of which a replica takes two hosts."""
    folder = tmp_path_factory.mktemp("spanning")
    shutil.copy(INVENTORY.parent / "tests" / "fixtures" / "valid" / "spanning.yml", folder / "site.yml")
    with rehearsed(toolbox, say, folder, 2) as found:
        yield found


@pytest.fixture(autouse=True)
def mended(request) -> Iterator[None]:
    """Leaves the platform to the next test as it was."""
    yield
    if "platform" in request.fixturenames:
        request.getfixturevalue("platform").until_whole()
