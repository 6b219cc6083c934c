"""The clock and name resolution."""

from collections.abc import Iterator

from rackwright.preflight.finding import Fault, changes, forbids, warns
from rackwright.preflight.machine import Machine
from rackwright.preflight.parsers.clock import is_synchronised
from rackwright.site.site import Site

OFFSET_S = 1.0
SLOW_LOOKUP_S = 2.0
SLOW_LOGIN_S = 1.0


def time_servers_answer(machine: Machine) -> Iterator[Fault]:
    """Each of the site's time servers gives the time to the host."""
    offsets = machine.clock.servers
    silent = {name: each.error for name, each in offsets.items() if each.offset_s is None}
    for name, error in silent.items():
        what = f"gets no time from {name} ({error or 'no answer'})"
        cure = "Open UDP port 123 to it, or correct networks.time_servers"
        yield forbids(what, cure) if len(silent) == len(offsets) else warns(what, cure)


def clock_is_right(machine: Machine) -> Iterator[Fault]:
    """The clock is within a second of the site's time servers: certificates, tokens and etcd go by it."""
    known = {name: each.offset_s for name, each in machine.clock.servers.items() if each.offset_s is not None}
    for name, offset in known.items():
        if abs(offset) < OFFSET_S:
            continue
        what = f"is {abs(offset):.1f} s {'ahead of' if offset > 0 else 'behind'} {name}"
        if is_synchronised(machine.clock):
            yield forbids(what, "chronyc makestep, or systemctl restart systemd-timesyncd; then look why it drifted")
        else:
            yield changes(what, "chronyc makestep; provisioning has chrony do it when it starts")
        return


def clock_is_kept(machine: Machine) -> Iterator[Fault]:
    """Something on the host keeps its clock."""
    if not is_synchronised(machine.clock):
        yield changes("does not synchronise its clock", "Run chrony with the site's networks.time_servers")


def names_resolve(machine: Machine) -> Iterator[Fault]:
    """Names that provisioning needs resolve, and quickly."""
    for name, found in machine.lookups.names.items():
        if found.error:
            yield warns(  # what is not to be had at all for that reason forbids going on by itself
                f"cannot resolve {name} ({found.error})", "Mend /etc/resolv.conf, or write networks.name_servers"
            )
        elif found.seconds > SLOW_LOOKUP_S:
            yield warns(
                f"takes {found.seconds:.1f} s to resolve {name}",
                "Take the resolver that does not answer out of /etc/resolv.conf",
            )


def name_servers_are_the_sites(machine: Machine, site: Site) -> Iterator[Fault]:
    """The resolvers are those of the site, where it names any."""
    wished = [str(each) for each in site.networks.name_servers]
    lines = [line.split() for line in (machine.lookups.resolv_conf or "").splitlines()]
    found = [fields[1] for fields in lines if len(fields) > 1 and fields[0] == "nameserver"]
    by_stub = found == ["127.0.0.53"]  # systemd-resolved stands before those that it was given
    if wished and not by_stub and found != wished:
        yield changes(
            f"asks {', '.join(found) or 'no resolver'} for names, and the site says {', '.join(wished)}",
            "Set them where the system's network configuration stands",
        )


def logins_are_quick(machine: Machine) -> Iterator[Fault]:
    """The name of whoever logs in is found, or known not to exist, at once: the SSH handshake waits for it."""
    found = machine.lookups.reverse
    if found is not None and found.seconds > SLOW_LOGIN_S:
        yield warns(
            f"takes {found.seconds:.1f} s to look up the name of {found.address}, which each SSH login can wait for",
            "Give the network a reverse zone, or set UseDNS no in sshd_config and mend the resolver",
        )
