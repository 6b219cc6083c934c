"""What custom resources, access rules and webhooks of our namespaces name."""

from collections.abc import Iterator
from typing import Any

from rackwright.checks.objects import Object, Objects, labels_of, namespace_of, spell
from rackwright.checks.references import Reference

MONITORS = ("ServiceMonitor", "PodMonitor", "Prometheus", "Alertmanager")
KEYED = {"secretKeyRef", "credentials", "secret", "keySecret", "password", "username"}


def certificate_references(objects: Objects) -> Iterator[Reference]:
    """Issuers of certificates, and the authorities' keys of issuers."""
    for each in objects.ours("Certificate"):
        issuer = each["spec"]["issuerRef"]
        namespace = "" if issuer.get("kind") == "ClusterIssuer" else namespace_of(each)
        yield Reference(spell(each), issuer.get("kind", "Issuer"), issuer["name"], namespace)
    for each in objects.all("ClusterIssuer"):
        if authority := each["spec"].get("ca"):
            home = _home_of_cluster_issuers(objects)
            yield Reference(spell(each), "Secret", authority["secretName"], home, "tls.key")


def database_references(objects: Objects) -> Iterator[Reference]:
    """Passwords, volumes and clusters of databases."""
    for each in objects.ours("Cluster"):
        where, namespace, spec = spell(each), namespace_of(each), each["spec"]
        for role in (spec.get("managed") or {}).get("roles") or []:
            if secret := role.get("passwordSecret"):
                for key in ("username", "password"):
                    yield Reference(f"{where}, role {role['name']}", "Secret", secret["name"], namespace, key)
        for volume in ("storage", "walStorage"):
            if name := (spec.get(volume) or {}).get("storageClass"):
                yield Reference(f"{where}, {volume}", "StorageClass", name)
        first = ((spec.get("bootstrap") or {}).get("initdb") or {}).get("secret") or spec.get("superuserSecret")
        if first:
            yield Reference(where, "Secret", first["name"], namespace, "password")
    for each in objects.ours("Database"):
        yield Reference(spell(each), "Cluster", each["spec"]["cluster"]["name"], namespace_of(each))


def monitor_references(objects: Objects) -> Iterator[Reference]:
    """Keys that Prometheus reads for its scrapes, its account and its volume."""
    for kind in MONITORS:
        for each in objects.ours(kind):
            where, namespace, spec = spell(each), namespace_of(each), each["spec"]
            for secret in _secrets(spec):
                yield Reference(where, "Secret", secret["name"], namespace, secret["key"])
            if account := spec.get("serviceAccountName"):
                yield Reference(where, "ServiceAccount", account, namespace)
            template = ((spec.get("storage") or {}).get("volumeClaimTemplate") or {}).get("spec") or {}
            if name := template.get("storageClassName"):
                yield Reference(where, "StorageClass", name)


def access_references(objects: Objects) -> Iterator[Reference]:
    """Roles and accounts of bindings."""
    ours = objects.our_namespaces
    for each in [*objects.ours("RoleBinding"), *objects.all("ClusterRoleBinding")]:
        accounts = [one for one in each.get("subjects") or [] if one["kind"] == "ServiceAccount"]
        accounts = [one for one in accounts if one.get("namespace", namespace_of(each)) in ours]
        for account in accounts:
            namespace = account.get("namespace") or namespace_of(each)
            yield Reference(spell(each), "ServiceAccount", account["name"], namespace)
        role = each["roleRef"]
        if accounts or namespace_of(each) in ours:
            yield Reference(
                spell(each), role["kind"], role["name"], namespace_of(each) if role["kind"] == "Role" else ""
            )


def _secrets(part: Any) -> Iterator[Object]:
    """Every {name, key} that stands under a name which means a Secret, at any depth, unless it is optional."""
    if isinstance(part, list):
        for each in part:
            yield from _secrets(each)
    elif isinstance(part, dict):
        for name, value in part.items():
            if name in KEYED and isinstance(value, dict) and {"name", "key"} <= value.keys():
                if not value.get("optional"):
                    yield value
            else:
                yield from _secrets(value)


def _home_of_cluster_issuers(objects: Objects) -> str:
    """The namespace that their keys are read from: cert-manager's own."""
    for each in objects.all("Deployment"):
        if labels_of(each).get("app.kubernetes.io/name") == "cert-manager":
            return namespace_of(each)
    return "cert-manager"
