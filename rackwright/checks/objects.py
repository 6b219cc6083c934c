"""A cluster's objects at one moment, read-only, found by kind, namespace and name."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Object = dict[str, Any]

OURS = ("app.kubernetes.io/part-of", "rackwright")
SIMULATED = "kwok.x-k8s.io/node"
READ_BY_US = {  # kind: what kubectl calls it
    "Namespace": "namespaces",
    "Node": "nodes",
    "Pod": "pods",
    "Service": "services",
    "EndpointSlice": "endpointslices.discovery.k8s.io",
    "Secret": "secrets",
    "ConfigMap": "configmaps",
    "ServiceAccount": "serviceaccounts",
    "PersistentVolumeClaim": "persistentvolumeclaims",
    "PersistentVolume": "persistentvolumes",
    "Deployment": "deployments.apps",
    "StatefulSet": "statefulsets.apps",
    "DaemonSet": "daemonsets.apps",
    "Job": "jobs.batch",
    "CronJob": "cronjobs.batch",
    "PodDisruptionBudget": "poddisruptionbudgets.policy",
    "NetworkPolicy": "networkpolicies.networking.k8s.io",
    "Role": "roles.rbac.authorization.k8s.io",
    "ClusterRole": "clusterroles.rbac.authorization.k8s.io",
    "RoleBinding": "rolebindings.rbac.authorization.k8s.io",
    "ClusterRoleBinding": "clusterrolebindings.rbac.authorization.k8s.io",
    "StorageClass": "storageclasses.storage.k8s.io",
    "CSIDriver": "csidrivers.storage.k8s.io",
    "PriorityClass": "priorityclasses.scheduling.k8s.io",
    "RuntimeClass": "runtimeclasses.node.k8s.io",
    "ClusterPolicy": "clusterpolicies.nvidia.com",
    "Cluster": "clusters.postgresql.cnpg.io",
    "Database": "databases.postgresql.cnpg.io",
    "Backup": "backups.postgresql.cnpg.io",
    "ScheduledBackup": "scheduledbackups.postgresql.cnpg.io",
    "ObjectStore": "objectstores.barmancloud.cnpg.io",
    "LeaderWorkerSet": "leaderworkersets.leaderworkerset.x-k8s.io",
    "LLMInferenceService": "llminferenceservices.serving.kserve.io",
    "Certificate": "certificates.cert-manager.io",
    "Issuer": "issuers.cert-manager.io",
    "ClusterIssuer": "clusterissuers.cert-manager.io",
    "ServiceMonitor": "servicemonitors.monitoring.coreos.com",
    "PodMonitor": "podmonitors.monitoring.coreos.com",
    "Prometheus": "prometheuses.monitoring.coreos.com",
    "Alertmanager": "alertmanagers.monitoring.coreos.com",
}


class Objects:
    """What was read; values of Secrets are dropped on the way in, their keys stay."""

    def __init__(self, objects: Iterable[Object]) -> None:
        self._kinds: dict[str, dict[tuple[str, str], Object]] = {}
        for each in objects:
            kept = _without_values(each) if each["kind"] == "Secret" else each
            self._kinds.setdefault(each["kind"], {})[namespace_of(each), name_of(each)] = kept

    def all(self, kind: str, namespace: str | None = None) -> list[Object]:
        """All of a kind, or those in one namespace."""
        return [each for each in self._kinds.get(kind, {}).values() if namespace in (None, namespace_of(each))]

    def ours(self, kind: str) -> list[Object]:
        """Those of a kind in namespaces that Rackwright made."""
        namespaces = self.our_namespaces
        return [each for each in self.all(kind) if namespace_of(each) in namespaces]

    def get(self, kind: str, name: str, namespace: str = "") -> Object | None:
        """One of them, if it is there."""
        return self._kinds.get(kind, {}).get((namespace, name))

    @property
    def our_namespaces(self) -> set[str]:
        """Namespaces that Rackwright made; what others run in the cluster is not ours to judge."""
        key, value = OURS
        return {name_of(each) for each in self.all("Namespace") if labels_of(each).get(key) == value}

    @property
    def simulated(self) -> bool:
        """True where nodes are simulated: containers do not run there, so nothing answers and no operator works."""
        return any(SIMULATED in each["metadata"].get("annotations", {}) for each in self.all("Node"))


def name_of(each: Object) -> str:
    """Its name."""
    return str(each["metadata"]["name"])


def namespace_of(each: Object) -> str:
    """Its namespace; empty for what belongs to the whole cluster."""
    return str(each["metadata"].get("namespace", ""))


def labels_of(each: Object) -> dict[str, str]:
    """Its labels."""
    return each["metadata"].get("labels") or {}


def spell(each: Object) -> str:
    """The object as people name it."""
    namespace = namespace_of(each)
    return f"{each['kind']} {namespace}/{name_of(each)}" if namespace else f"{each['kind']} {name_of(each)}"


def condition(each: Object, kind: str) -> Object:
    """One of its status conditions; empty where it has none of that type."""
    conditions: Iterator[Object] = iter((each.get("status") or {}).get("conditions") or [])
    return next((found for found in conditions if found.get("type") == kind), {})


def matches(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Whether a label selector selects what bears these labels; an absent one selects nothing, an empty one all."""
    if selector is None:
        return False
    equal = all(labels.get(key) == value for key, value in (selector.get("matchLabels") or {}).items())
    return equal and all(_holds(each, labels) for each in selector.get("matchExpressions") or [])


def _holds(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, values = expression["key"], expression.get("values") or []
    return {
        "In": labels.get(key) in values,
        "NotIn": labels.get(key) not in values,
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }[expression["operator"]]


def _without_values(secret: Object) -> Object:
    return {**secret, "data": dict.fromkeys(secret.get("data") or {}, "")}
