"""One node comes, goes or is replaced, and no other host is touched: the plan."""

from collections.abc import Sequence
from typing import Literal

from rackwright.errors import Refusal
from rackwright.provisioning.plan import (
    Plan,
    Step,
    hosts_of,
    names,
    others,
    phase_of,
    refuse_guesses,
    servers,
    steps_with_hosts,
)
from rackwright.provisioning.provision import cluster, machines, proof
from rackwright.site.hosts import Host, Phase
from rackwright.site.site import Site

Act = Literal["add", "remove", "replace"]
TITLES = {"add": "Add a node", "remove": "Remove a node", "replace": "Replace a node"}


def node(
    site: Site, name: str, act: Act, phase: Phase | None = None, *, dead: bool = False, drives: Sequence[str] = ()
) -> Plan:
    """The plan for one node; `dead` says that its machine is gone or new. Refusal where it cannot leave."""
    if act != "add":
        refuse_guesses(site, [name])
    number = phase_of(site, phase, [name])
    (host,) = hosts_of(site, number, [name])
    if act != "add":
        _refuse_the_last(site, number, host)
    _refuse_unknown(host, drives)
    leaves = _leaves(site, number, host, dead=dead, drives=drives) if act != "add" else ()
    comes = (*machines([host]), *cluster(site, number, [host]), proof([host])) if act != "remove" else ()
    return Plan(
        title=TITLES[act],
        site=site.name,
        phase=number,
        playbook="node",
        variables={
            "phase": number,
            "preflight_phase": number,
            "node": name,
            "act": act,
            "confirm": name,
            "dead": dead,
            "reset_drives": ",".join(drives),
        },
        steps=steps_with_hosts([*leaves, *comes]),
        warnings=_warnings(site, number, host, act),
        hosts=(name,),
    )


def _leaves(site: Site, phase: Phase, host: Host, *, dead: bool, drives: Sequence[str]) -> tuple[Step, ...]:
    who = (host.name,)
    is_control = phase == 2 and host in servers(site, phase, [host])
    down = "its pods are made anew elsewhere, where there is room; volumes on its drives wait"
    steps = [Step("Look", who, "a server of the cluster answers" + (", and etcd goes on without it" * is_control))]
    if not dead:
        steps.append(Step("Drain", who, "its pods are moved elsewhere", down=down))
    steps.append(Step("Take out", who, "it leaves " + "etcd and " * is_control + "the cluster", down=down * dead))
    end = "the cluster is taken off it" + (", where it answers" if dead else "")
    kept = (
        f"drives {', '.join(drives)} are given back, all others keep what they have"
        if drives
        else "its drives keep all"
    )
    return (*steps, Step("Take back the machine", who, f"{end}; {kept}"))


def _refuse_the_last(site: Site, phase: Phase, host: Host) -> None:
    serving = servers(site, phase, hosts_of(site, phase))
    if names(serving) == (host.name,):
        what = f"{host.name} is the only server of the cluster of phase {phase}, which would end with it."
        raise Refusal(what, "rackwright reset ends a cluster; a snapshot of etcd brings one back.")


def _refuse_unknown(host: Host, drives: Sequence[str]) -> None:
    for serial in drives:
        if not any(disk.path.endswith(f"_{serial}") for disk in host.disks):
            known = ", ".join(disk.path.rpartition("_")[2] for disk in host.disks) or "none"
            raise Refusal(f"{host.name} has no drive {serial} in the site file.", f"Its drives: {known}.")


def _warnings(site: Site, phase: Phase, host: Host, act: Act) -> tuple[str, ...]:
    found = []
    if act == "remove":
        found.append(f"afterwards take {host.name} out of the site file, or the next provision brings it back")
        if phase == 2 and host in servers(site, phase, [host]):
            left = len(servers(site, phase, hosts_of(site, phase))) - 1
            found.append(f"{left} control host{'s' * (left != 1)} stay: etcd bears {(left - 1) // 2} more to fail")
    if act == "replace":
        found.append(f"where it stops after the node has left, rackwright node add goes on with {host.name}")
    if act != "remove" and host in others(site, phase, [host]):
        found.append(
            "a server of the cluster makes the token by which it joins; nothing else is changed on any other host"
        )
    return tuple(found)
