"""The clusters' steps and gates of a live site, by the names that stages.py has for them."""

from collections.abc import Mapping

from rackwright.observe import baseline
from rackwright.rollout.figures import holding
from rackwright.rollout.gates import Gate
from rackwright.rollout.ground import ROOT, Ground
from rackwright.rollout.platform.clusters import Behind, Nodes, Serves
from rackwright.rollout.platform.doors import Certificates, Door, Keys, Name
from rackwright.rollout.platform.drain import Drain
from rackwright.rollout.platform.lay import Lay, Scale
from rackwright.rollout.platform.machines import Cleaned, Founded, Joined, Playbooks, Provision, Ready
from rackwright.rollout.platform.stack import PulumiStack
from rackwright.rollout.platform.untouched import NoFaults, Untouched
from rackwright.rollout.platform.weights import Weights
from rackwright.rollout.pulumi_door import PulumiDoor
from rackwright.rollout.traffic import shares
from rackwright.rollout.way import names
from rackwright.rollout.world import Act
from rackwright.secrets.authority import NAME as AUTHORITY
from rackwright.secrets.authority import read as read_authority
from rackwright.site.hosts import Phase


def acts(ground: Ground) -> dict[str, Act]:
    """What carries steps out."""
    way, playbooks = ground.way, Playbooks(ground.folder, ground.progress)
    nodes = {phase: Nodes(ground.kubeconfig(phase), ground.kubectl) for phase in (1, 2)}
    kubectl = (ground.kubectl, f"--kubeconfig={ground.kubeconfig(1)}")
    stack = PulumiStack(ground.folder, 2, ROOT, environment=ground.environment)
    door = PulumiDoor(PulumiStack(ground.folder, 1, ROOT, environment=ground.environment), kubectl)
    found: dict[str, Act] = {
        "metal/provision": Provision(way, playbooks),
        "cluster/found": Founded(way, playbooks, nodes[2]),
        "platform/lay": Lay(stack, names(way.joining), way.settings.copies_data),
        "copy/weights": Weights(ground.access(2), way.moving, ground.progress),
        **shares(door, way.settings.weights),
        "cut-over/door": Name(_door(ground, 1), _door(ground, 2)),
    }
    if way.joining:
        found |= {
            "no-return/drain": Drain(ROOT, kubectl, names(way.joining)),
            "no-return/clean": Cleaned(way, playbooks),
            "no-return/join": Joined(way, playbooks, nodes[2]),
            "no-return/scale": Scale(stack),
        }
    return found


def gates(ground: Ground) -> Mapping[str, Gate]:
    """What lets steps pass; one reads its own way where it stands behind a step's name."""
    way, playbooks = ground.way, Playbooks(ground.folder, ground.progress)
    first, second = Behind(ground.access(1)), Behind(ground.access(2))
    doors = (_door(ground, 1), _door(ground, 2))
    authority = read_authority(ground.values[AUTHORITY]).certificate if AUTHORITY in ground.values else ""
    keys = {tenant.name: ground.values.get(tenant.key, "") for tenant in way.site.tenants}
    return {
        **holding(way, first, second, baseline.load(ground.folder)),
        "cut-over/door errors": NoFaults(second),
        "no-return/scale errors": NoFaults(second),
        "phase-1-serves": _serves(ground, 1),
        "phase-2-serves": _serves(ground, 2),
        "phase-1-untouched": Untouched(first),
        "weights-there": Weights(ground.access(2), way.moving, ground.progress).there,
        "hosts-ready": Ready(playbooks, names(way.new)),
        "no-return/join hosts-ready": Ready(playbooks, names(way.joining)),
        "platform/lay certificates-good": Certificates(doors[:1], authority),
        "certificates-good": Certificates(doors, authority),
        "keys-equal": Keys(doors, authority, way.moving[0], keys),
    }


def _door(ground: Ground, phase: Phase) -> Door:
    site = ground.way.site
    return Door(phase, str(site.door(phase)), site.gateway.port, site.gateway.host)


def _serves(ground: Ground, phase: Phase) -> Serves:
    keys = {tenant.key: ground.values[tenant.key] for tenant in ground.way.site.tenants if tenant.key in ground.values}
    return Serves(ground.way.site, phase, ground.kubeconfig(phase), ground.kubectl, keys)
