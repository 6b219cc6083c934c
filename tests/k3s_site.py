"""The sample of one server, as tests of k3s want it, and the configuration that the playbook makes of it."""

from pathlib import Path
from typing import Any

import yaml

from rackwright.metal import k3s
from rackwright.site.catalog import Catalog
from rackwright.site.site import Site

HOST, PLAYBOOK = "ws-01", "playbooks/k3s.yml"
VERSION = Catalog.load().kubernetes.k3s
TOKEN = "0123456789abcdef0123456789abcdef"
SAMPLE = Path(__file__).resolve().parents[1] / "inventory" / "workstation" / "site.yml"


def workstation(folder: Path) -> Path:
    """A copy of the sample whose kubeconfig is brought into the same folder."""
    text = yaml.safe_load(SAMPLE.read_text())
    text["clusters"]["phase1"]["kubeconfig"] = str(folder / "kube" / "config")
    (folder / "site.yml").write_text(yaml.safe_dump(text, sort_keys=False))
    return folder


def told(folder: Path) -> dict[str, Any]:
    """What k3s is told on its one server."""
    found = Site.load(folder)
    server = found.hosts_in(1)[0]
    around = (found.operating_system, found.clusters.phase1, found.networks)
    return k3s.server(server, *around, site=found.name, object_storage=None)
