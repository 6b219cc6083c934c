"""From machines with a fresh system to the phase's cluster: the plan."""

from collections.abc import Sequence

from rackwright.provisioning.plan import Plan, Step, hosts_of, names, others, phase_of, servers, steps_with_hosts
from rackwright.site.hosts import Host, Phase
from rackwright.site.site import Site

AGAIN = "what a host has already is left as it is: on a finished machine nothing changes, reboots or stops"


def provision(site: Site, phase: Phase | None = None, limit: Sequence[str] | None = None) -> Plan:
    """The plan for all hosts of a phase, or for those named; Refusal where the site has no such phase or host."""
    number = phase_of(site, phase, limit)
    hosts = hosts_of(site, number, limit)
    warnings = [AGAIN]
    if limit is not None and len(hosts) < len(hosts_of(site, number)):
        left = [name for name in names(hosts_of(site, number)) if name not in names(hosts)]
        warnings.append(f"{', '.join(left)} {'is' if len(left) == 1 else 'are'} neither asked nor changed")
    return Plan(
        title="Provision",
        site=site.name,
        phase=number,
        playbook="site",
        variables={"phase": number, "preflight_phase": number},
        steps=steps_with_hosts([*machines(hosts), *cluster(site, number, hosts), proof(hosts)]),
        warnings=tuple(warnings),
        limit=names(hosts) if limit is not None else (),
        hosts=names(hosts),
    )


def machines(hosts: Sequence[Host]) -> tuple[Step, ...]:
    """From a fresh system to one that a cluster can be installed on."""
    gpus = names([host for host in hosts if host.gpus])
    agents = names([host for host in hosts if "agents" in host.roles])
    everyone = names(hosts)
    return (
        Step("Compare with the site", everyone, "nothing is changed; where one host forbids it, the run ends here"),
        Step(
            "Base, network, storage",
            everyone,
            "name, time, kernel settings, swap off; ports, bonds and MTU; the site's drives, each with data refused",
            down="the network for seconds where it changes; one that does not let SSH back in is taken back by itself",
        ),
        Step("Agents' limits", agents, "hardening and limits for tools that models run"),
        Step("NVIDIA driver", gpus, "driver, libraries and fabric manager of one version, held; nouveau blocked"),
        Step(
            "Reboot",
            gpus,
            "a host is rebooted where its driver cannot load otherwise, and no node that serves",
            one_at_a_time=True,
            reboots="where needed: on a fresh machine usually once",
            down="the host, for up to ten minutes",
        ),
        Step("Container toolkit", gpus, "NVIDIA's runtime and CDI for containers"),
    )


def cluster(site: Site, phase: Phase, hosts: Sequence[Host]) -> tuple[Step, ...]:
    """The phase's cluster, on machines that are provisioned."""
    control, workers = names(servers(site, phase, hosts)), names(others(site, phase, hosts))
    if phase == 1:
        return (
            Step("k3s server", control, "k3s is installed and started; it restarts where its configuration differs"),
            Step("k3s nodes", workers, "they join the server"),
        )
    return (
        Step("containerd", names(hosts), "the container runtime"),
        Step("Control plane", control, "the first founds the cluster, the others join it", one_at_a_time=True),
        Step("Nodes", workers, "they join the cluster side by side"),
    )


def proof(hosts: Sequence[Host]) -> Step:
    """The end of every plan that builds."""
    return Step("Prove", names(hosts), "what is there is compared with the site once more; nothing is changed")
