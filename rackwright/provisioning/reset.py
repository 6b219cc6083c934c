"""Machines taken back from their cluster: the plan."""

from collections.abc import Sequence

from rackwright.errors import Refusal
from rackwright.provisioning.plan import (
    Plan,
    Step,
    hosts_of,
    names,
    phase_of,
    refuse_guesses,
    servers,
    steps_with_hosts,
)
from rackwright.site.hosts import Phase
from rackwright.site.site import Site

REMOVED = {1: "k3s is removed", 2: "kubeadm's node is removed"}


def reset(site: Site, wanted: Sequence[str], phase: Phase | None = None, drives: Sequence[str] = ()) -> Plan:
    """The plan for the hosts named; Refusal where one is not of the phase, or a drive is none of theirs."""
    refuse_guesses(site, wanted)
    number = phase_of(site, phase, wanted)
    hosts = hosts_of(site, number, wanted)
    known = {disk.path.rpartition("_")[2]: host.name for host in hosts for disk in host.disks}
    for serial in drives:
        if serial not in known:
            listed = ", ".join(known) or "none"
            raise Refusal(f"None of these hosts has a drive {serial} in the site file.", f"Their drives: {listed}.")
    wiped = tuple(dict.fromkeys(known[serial] for serial in drives))
    server = names(servers(site, number, hosts))
    warnings = ["data of drives that are not named stays where it is"]
    if set(server) == set(names(servers(site, number, hosts_of(site, number)))):
        warnings.insert(0, f"the cluster of phase {number} ends: {', '.join(server)} is all that bears it")
    return Plan(
        title="Reset",
        site=site.name,
        phase=number,
        playbook="reset",
        variables={
            "phase": number,
            "reset_hosts": ",".join(names(hosts)),
            "reset_drives": ",".join(drives),
            "confirm": site.name,
        },
        steps=steps_with_hosts(
            [
                Step("Take off the cluster", names(hosts), REMOVED[number], down="all that runs on it"),
                Step("Give drives back", wiped, f"everything on {', '.join(drives)} is lost"),
            ]
        ),
        warnings=tuple(warnings),
        hosts=names(hosts),
    )
