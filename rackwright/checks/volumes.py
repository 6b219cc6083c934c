"""Claims: bound, of the class that the site says for their purpose, and no more than the drives hold."""

import re
from collections import Counter
from collections.abc import Iterator

from rackwright.checks.findings import Finding, failed, passed, whole
from rackwright.checks.objects import Object, Objects, labels_of, name_of, spell
from rackwright.site.hosts import Phase
from rackwright.site.site import Site
from rackwright.site.storage_classes import VOLUME_PURPOSES, storage_class
from rackwright.site.volumes import room_gb

HOST_KEYS = {"kubernetes.io/hostname", "topology.topolvm.io/node"}
UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def claims_are_bound(objects: Objects) -> Iterator[Finding]:
    """Every claim of ours has its volume, of the class that it asks for."""
    claims, faults = objects.ours("PersistentVolumeClaim"), []
    for claim in claims:
        volume = objects.get("PersistentVolume", claim["spec"].get("volumeName", ""))
        if (claim.get("status") or {}).get("phase") != "Bound" or volume is None:
            cure = f"kubectl -n {claim['metadata']['namespace']} describe pvc {name_of(claim)}"
            faults.append(failed(spell(claim), "is bound to no volume", cure))
        elif _class(volume) != _class(claim):
            other = _class(volume) or "none"
            faults.append(
                failed(spell(claim), f"lies on a volume of class {other}", "Move its data; a class is for good.")
            )
    yield from whole(faults, "cluster", f"{len(claims)} claims are bound")


def _class(each: Object) -> str:
    """A class that is said to be none, as an NFS export's, is not kept in a volume."""
    return each["spec"].get("storageClassName") or ""


def data_lies_on_its_drives(objects: Objects, site: Site) -> Iterator[Finding]:
    """Vectors, databases and metrics use the classes that the site names for them."""
    wanted = (
        ("qdrant", "Qdrant", site.vectors.storage_class),
        ("cnpg.io/cluster", "PostgreSQL", site.postgresql.storage_class),
    )
    for label, what, named in wanted:
        claims = [
            claim
            for claim in objects.ours("PersistentVolumeClaim")
            if label in labels_of(claim) or labels_of(claim).get("app") == label
        ]
        wrong = [claim for claim in claims if claim["spec"].get("storageClassName") != named]
        for claim in wrong:
            other = claim["spec"].get("storageClassName")
            yield failed(spell(claim), f"has class {other}, the site says {named} for {what}", "Move its data.")
        if not claims:
            yield failed(what, "has no claim, so its data would go with its pod", "Run `pulumi up` again.")
        elif not wrong:
            yield passed(what, f"{len(claims)} claims of class {named}")


def drives_hold_the_volumes(objects: Objects, site: Site, phase: Phase) -> Iterator[Finding]:
    """Volumes of one purpose on one host are no more than its drives of that purpose."""
    used: Counter[tuple[str, str]] = Counter()
    for volume in objects.all("PersistentVolume"):
        for name in _hosts(volume):
            used[name, volume["spec"].get("storageClassName", "")] += size(volume["spec"]["capacity"]["storage"])
    for host in site.hosts_in(phase):
        for purpose in VOLUME_PURPOSES:
            taken, there = used[host.name, storage_class(purpose)], room_gb(host, purpose) * 10**9
            where = f"{host.name}, {purpose}"
            if taken > there:
                cure = "Take smaller volumes in the site file, or give the host another drive for it."
                yield failed(where, f"volumes of {taken // 10**9} GB on drives of {there // 10**9} GB", cure)
            elif there:
                yield passed(where, f"volumes of {taken // 10**9} GB on drives of {there // 10**9} GB")


def size(quantity: str) -> int:
    """Bytes of a Kubernetes quantity."""
    parts = re.fullmatch(r"([0-9.]+)([A-Za-z]*)", quantity)
    if parts is None or parts[2] not in UNITS:
        raise ValueError(f"{quantity} is no size")
    return int(float(parts[1]) * UNITS[parts[2]])


def _hosts(volume: Object) -> Iterator[str]:
    """The hosts that a local volume can be on: the one that its drive is in."""
    required = (volume["spec"].get("nodeAffinity") or {}).get("required") or {}
    for term in required.get("nodeSelectorTerms") or []:
        for expression in term.get("matchExpressions") or []:
            if expression["key"] in HOST_KEYS:
                yield from expression["values"]
