"""What a node of a cluster bears: labels and taints by its host's roles, and how many pods it takes."""

from collections.abc import Mapping, Sequence

from rackwright.site.hosts import Host, Phase, Role

PREFIX = "rackwright"
CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
KEPT_FOR: tuple[Role, ...] = ("agents", "training")  # hosts that are for one thing, and bear its taint
PODS, PODS_OF_AGENTS = 110, 220  # the kubelet's default; tools run in many small pods, and a /24 has room for 253

Taint = dict[str, str]


def mark(role: Role) -> str:
    """The label, and the taint, of a role."""
    return f"{PREFIX}/{role}"


def labels(host: Host, *, lends_gpus: bool = False) -> dict[str, str]:
    """A label for each role, by which pods are placed: `rackwright/inference: "true"`.

    A training host that lends its GPUs bears the label of inference too.
    """
    lent: tuple[Role, ...] = ("inference",) if _lends(host, lends_gpus) else ()
    return {mark(role): "true" for role in (*host.roles, *lent)}


def taints(phase: Phase, host: Host, *, lends_gpus: bool = False) -> list[Taint]:
    """What keeps work off a node: all but tools from agents' hosts, all but training from training's.

    Kubeadm's own taint stands where a host does nothing but control; one that also serves, and k3s's server, take
    everything. GPUs have none: databases and vectors stand on the same hosts. Lent GPUs are a matter of preference:
    the scheduler takes such a host last.
    """
    if phase == 1:
        return []
    if host.roles == ("control",):
        return [{"key": CONTROL_PLANE, "effect": "NoSchedule"}]
    effect = "PreferNoSchedule" if _lends(host, lends_gpus) else "NoSchedule"
    return [{"key": mark(role), "effect": effect} for role in KEPT_FOR if role in host.roles]


def toleration(role: Role) -> Taint:
    """What a pod bears that may stand on hosts which are kept for a role."""
    return {"key": mark(role), "operator": "Exists"}


def pods(host: Host) -> int:
    """How many pods the kubelet takes."""
    return PODS_OF_AGENTS if "agents" in host.roles else PODS


def relabelled(wanted: Mapping[str, str], shown: Mapping[str, str]) -> list[str]:
    """Words for `kubectl label`: what is wanted and not shown, and labels of ours that are no longer wanted."""
    stale = [f"{key}-" for key in sorted(shown) if _is_ours(key) and key not in wanted]
    return [f"{key}={value}" for key, value in wanted.items() if shown.get(key) != value] + stale


def retainted(wanted: Sequence[Taint], shown: Sequence[Taint]) -> list[str]:
    """Words for `kubectl taint`, likewise; taints that are not ours stay as they are."""
    there = {(each["key"], each["effect"]) for each in shown}
    wished = {(each["key"], each["effect"]) for each in wanted}
    new = [f"{key}:{effect}" for key, effect in sorted(wished - there)]
    return new + [f"{key}:{effect}-" for key, effect in sorted(there - wished) if _is_ours(key)]


def _is_ours(key: str) -> bool:
    return key.startswith(f"{PREFIX}/")


def _lends(host: Host, lends_gpus: bool) -> bool:
    return lends_gpus and "training" in host.roles and host.gpus is not None
