"""Stand-ins brought to where a rack's guests find them, and what playbooks are told of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from rackwright.guests.excused import EXCUSED, sentence
from rackwright.guests.rack import Rack
from rackwright.guests.stand_ins.k3s import release
from rackwright.guests.stand_ins.nvidia import repository
from rackwright.secrets import throw_away
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Phase
from rackwright.site.site import Site

NVIDIA = "NVIDIA's driver, fabric manager and toolkit: packages of ours with their names, and nothing in them."
K3S = "k3s: a program of ours that reads the real configuration, refuses what k3s would, and runs no pod."
SECRETS = "Secrets: throw-away ones, made for this rehearsal."


@dataclass(frozen=True)
class Laid:
    """Sentences for the report, and variables for the playbook."""

    sentences: tuple[str, ...]
    variables: dict[str, Any]


def lay(rack: Rack, phase: Phase) -> Laid:
    """Bring what the roles of a phase would fetch from outside, and make what is secret."""
    folder = rack.folder / "secrets"
    folder.mkdir(mode=0o700)
    sentences = [SECRETS, sentence()]
    variables: dict[str, Any] = {**throw_away(rack.site, folder).read(), "excused_checks": list(EXCUSED)}
    catalog = Catalog.load()
    if any(host.gpus for host in rack.hosts):
        _lay_nvidia(rack, catalog)
        sentences.append(NVIDIA)
    if phase == 1:
        folder = rack.folder / "k3s"
        folder.mkdir()
        release(folder, catalog.kubernetes.k3s)
        variables |= {"k3s_binary_source": str(folder), "k3s_sha256": ""}
        sentences.append(K3S)
    return Laid(tuple(sentences), variables | kubeconfig(rack.site, phase, rack.folder / "kubeconfig"))


def kubeconfig(site: Site, phase: Phase, file: Path) -> dict[str, Any]:
    """A file of the rehearsal's own: the site's opens the real cluster, whose name and address are the same."""
    cluster = site.cluster(phase)
    opened = {"path": str(file), "name": f"{site.name}-phase{phase}"}
    if phase == 2:
        return {"kubernetes_kubeconfig": opened}
    return {"k3s_kubeconfig": opened | {"api": str(cluster.api if cluster else "")}}


def _lay_nvidia(rack: Rack, catalog: Catalog) -> None:
    hosts = [host for host in rack.hosts if host.gpus]
    folder = rack.folder / "nvidia"
    repository.write_repositories(folder, catalog, sorted({rack[host.name].says("uname -r") for host in hosts}))
    for host in hosts:
        guest = rack[host.name]
        guest.put(folder, repository.PLACE)
        for file, text in ((repository.SOURCES, repository.sources()), (repository.MACHINE, repository.machine(host))):
            guest.ssh(f"mkdir -p {PurePosixPath(file).parent} && cat >{file}", text=text)
