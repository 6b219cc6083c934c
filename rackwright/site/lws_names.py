"""What the controller of LeaderWorkerSets calls what it makes of one (0.10, api/leaderworkerset, pkg/controllers).

Of a set it makes a StatefulSet of the same name, whose pods lead; beside each of these a StatefulSet of that pod's
name, whose pods follow. It labels all of them, and says to each in its variables whom it follows.
"""

SET = "leaderworkerset.sigs.k8s.io/name"
INDEX = "leaderworkerset.sigs.k8s.io/worker-index"  # 0 leads
LEADER, NUMBER = "$(LWS_LEADER_ADDRESS)", "$(LWS_WORKER_INDEX)"  # Kubernetes puts the variables into a command


def leading(labels: dict[str, str]) -> dict[str, str]:
    """Labels of those of a set's pods that lead, by the labels of all."""
    return labels | {INDEX: "0"}


def leader(model: str, number: int) -> str:
    """The pod that leads one replica, and the StatefulSet of those that follow it."""
    return f"{model}-{number}"
