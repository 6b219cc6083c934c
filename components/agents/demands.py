"""What a tool must be like to be let in: it ends by itself, holds nothing of the cluster's, and stays on its hosts."""

from components.base.admission import Demand, every_container, placed, ranked
from rackwright.site.agents import Agents

RANK = "rackwright-agents"
GRACE_S = 30  # between the wish to end and the end
KEPT_S = 3600  # a finished job counts among those that wait until it is gone


def of_pods(agents: Agents) -> list[Demand]:
    """Beside the level `restricted`, which refuses root, privileges, host paths and the host's networks."""
    return [
        *placed("agents"),
        ranked(RANK),
        *_without_gpus(),
        Demand(
            f"has(object.spec.activeDeadlineSeconds) && object.spec.activeDeadlineSeconds <= {agents.longest_s}",
            f"write activeDeadlineSeconds, at most {agents.longest_s}: a tool ends by itself",
        ),
        Demand(
            f"object.spec.?terminationGracePeriodSeconds.orValue({GRACE_S}) <= {GRACE_S}",
            f"write terminationGracePeriodSeconds, at most {GRACE_S}, or leave it out",
        ),
        Demand(
            "!object.spec.?automountServiceAccountToken.orValue(true)",
            "write automountServiceAccountToken: false: a tool has no business with the cluster's API",
        ),
        _sandboxed(agents),
    ]


def of_jobs(agents: Agents) -> list[Demand]:
    """What holds for all tries of a tool together, and for what is left of it."""
    return [
        Demand(
            f"has(object.spec.activeDeadlineSeconds) && object.spec.activeDeadlineSeconds <= {agents.longest_s}",
            f"write activeDeadlineSeconds at the job too, at most {agents.longest_s}: tries count together",
        ),
        Demand(
            f"has(object.spec.ttlSecondsAfterFinished) && object.spec.ttlSecondsAfterFinished <= {KEPT_S}",
            f"write ttlSecondsAfterFinished, at most {KEPT_S}: a finished job makes room",
        ),
    ]


def _without_gpus() -> list[Demand]:
    asked = " && ".join(
        f"dyn(each).?resources.?{kind}.orValue({{}}).all(name, !name.startsWith('nvidia.com/'))"
        for kind in ("limits", "requests")
    )
    return [
        Demand(every_container(asked), "ask for no GPU: models are called through the gateway"),
        Demand("!has(object.spec.resourceClaims)", "claim no devices"),
    ]


def _sandboxed(agents: Agents) -> Demand:
    if agents.runtime_class:
        return Demand(
            f"object.spec.?runtimeClassName.orValue('') == '{agents.runtime_class}'",
            f"write runtimeClassName: {agents.runtime_class}",
        )
    return Demand(
        every_container("each.?securityContext.?readOnlyRootFilesystem.orValue(false)"),
        "write readOnlyRootFilesystem: true at every container, and give what is written an emptyDir",
    )
