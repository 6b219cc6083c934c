"""What operators make by themselves for an object of ours, so that it cannot be there before they work."""

from collections.abc import Iterator
from typing import NamedTuple

from rackwright.checks.objects import Objects, name_of, namespace_of, spell


class Promise(NamedTuple):
    """Who makes it, and for which object."""

    by: str
    of: str


Key = tuple[str, str, str]
DATABASE_SECRETS = ("app", "ca", "server", "replication", "superuser")
DATABASE_SERVICES = ("rw", "ro", "r")


def promises(objects: Objects) -> dict[Key, Promise]:
    """By kind, namespace and name."""
    return dict([*_certificates(objects), *_databases(objects), *_prometheus(objects)])


def _certificates(objects: Objects) -> Iterator[tuple[Key, Promise]]:
    for each in objects.all("Certificate"):
        key = ("Secret", namespace_of(each), each["spec"]["secretName"])
        yield key, Promise("cert-manager", spell(each))


def _databases(objects: Objects) -> Iterator[tuple[Key, Promise]]:
    for each in objects.all("Cluster"):
        namespace, name, promise = namespace_of(each), name_of(each), Promise("CloudNativePG", spell(each))
        for suffix in DATABASE_SECRETS:
            yield ("Secret", namespace, f"{name}-{suffix}"), promise
        for suffix in DATABASE_SERVICES:
            yield ("Service", namespace, f"{name}-{suffix}"), promise
        yield ("ServiceAccount", namespace, name), promise


def _prometheus(objects: Objects) -> Iterator[tuple[Key, Promise]]:
    for each in objects.all("Prometheus"):
        promise = Promise("the Prometheus operator", spell(each))
        yield ("Service", namespace_of(each), "prometheus-operated"), promise
        yield ("Secret", namespace_of(each), f"prometheus-{name_of(each)}"), promise
    for each in objects.all("Alertmanager"):
        promise = Promise("the Prometheus operator", spell(each))
        yield ("Service", namespace_of(each), "alertmanager-operated"), promise
