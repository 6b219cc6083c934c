"""Copies of data: apart from each other, and the last of them outside the rack."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from rackwright.checks.findings import Finding, failed, not_seen, passed, whole
from rackwright.checks.objects import Object, Objects, labels_of, spell
from rackwright.checks.references import Reference
from rackwright.site.postgresql import Databases
from rackwright.site.site import Site

COPIES = {"cnpg.io/podRole": ("instance", "PostgreSQL"), "app.kubernetes.io/name": ("qdrant", "Qdrant")}
OLDEST = timedelta(days=2)  # a daily backup that failed once has been made again by then


def copies_lie_apart(objects: Objects) -> Iterator[Finding]:
    """No two instances of PostgreSQL and no two nodes of Qdrant are on one host, with which both would go."""
    faults = []
    for label, (value, what) in COPIES.items():
        placed = [each for each in objects.ours("Pod") if labels_of(each).get(label) == value]
        hosts = Counter(each["spec"]["nodeName"] for each in placed if each["spec"].get("nodeName"))
        see = f"kubectl get pods -A -o wide -l {label}={value}"
        faults += [
            failed(what, f"has {count} copies on {host}", f"Delete one of them, and its claims: {see}")
            for host, count in hosts.items()
            if count > 1
        ]
    yield from whole(faults, "cluster", "no two copies share a host")


def backup_references(objects: Objects) -> Iterator[Reference]:
    """Stores of backups, their keys, and the servers that schedules are for."""
    for each in objects.ours("Cluster"):
        for plugin in each["spec"].get("plugins") or []:
            if store := (plugin.get("parameters") or {}).get("barmanObjectName"):
                yield Reference(spell(each), "ObjectStore", store, each["metadata"]["namespace"])
    for each in objects.ours("ObjectStore"):
        for key in ((each["spec"].get("configuration") or {}).get("s3Credentials") or {}).values():
            if isinstance(key, dict):
                yield Reference(spell(each), "Secret", key["name"], each["metadata"]["namespace"], key["key"])
    for each in objects.ours("ScheduledBackup"):
        yield Reference(spell(each), "Cluster", each["spec"]["cluster"]["name"], each["metadata"]["namespace"])


def backups_are_made(
    objects: Objects, site: Site, now: datetime | None = None, databases: Databases = "own"
) -> Iterator[Finding]:
    """Where the site asks for backups, they are scheduled, and one of the last two days is whole."""
    if databases == "awaited":
        yield not_seen("PostgreSQL", "comes as a copy of phase 1's, by the rollout")
        return
    if site.postgresql.backups is None:
        yield passed("PostgreSQL", "the site asks for no backups")
        return
    schedules = objects.ours("ScheduledBackup")
    if not schedules:
        yield failed("ScheduledBackup", "is not there", "Run `pulumi up` again.")
    for each in schedules:
        if objects.simulated:
            yield not_seen(spell(each), "no backup is made where no PostgreSQL runs")
            continue
        ends = [_end(backup) for backup in objects.ours("Backup")]
        newest = max((end for end in ends if end), default=None)
        if newest is None or (now or datetime.now(UTC)) - newest > OLDEST:
            what = f"has made its last whole backup at {newest:%Y-%m-%d %H:%M} UTC" if newest else "has made none yet"
            yield failed(spell(each), what, "See why: kubectl -n postgres describe backups")
        else:
            yield passed(spell(each), f"the last whole backup is of {newest:%Y-%m-%d %H:%M} UTC")


def _end(backup: Object) -> datetime | None:
    status = backup.get("status") or {}
    if status.get("phase") != "completed" or not status.get("stoppedAt"):
        return None
    return datetime.fromisoformat(status["stoppedAt"])
