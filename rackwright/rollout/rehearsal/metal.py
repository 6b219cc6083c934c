"""Metal in a rehearsed rollout: hosts that boot as guests, and the real playbooks on them, twice.

They come and go before the clusters: an emulated machine beside those would take the processor from whom is timed.
"""

from collections.abc import Mapping, Sequence

from rackwright.errors import Refusal
from rackwright.guests import machine, namespace, needs
from rackwright.guests.hardware import Size
from rackwright.rollout.way import Way
from rackwright.site.hosts import Host, Phase
from rackwright.site.reading.nearest import told

Metal = Mapping[Phase, tuple[Host, ...]]


def metal(way: Way, wanted: Sequence[str]) -> Metal:
    """Hosts by the phase that provisions them first, all where none is wanted by name; Refusal of an unknown name."""
    phases: Metal = {1: way.old, 2: way.new}
    known = [host.name for hosts in phases.values() for host in hosts]
    for name in wanted:
        if name not in known:
            raise Refusal(f"The site {way.site.name} has no host {name}.", told(name, known))
    found = {phase: tuple(host for host in hosts if host.name in (wanted or known)) for phase, hosts in phases.items()}
    return {phase: hosts for phase, hosts in found.items() if hosts}


def demand_to_boot(found: Metal) -> None:
    """Refusal where guests cannot be booted here, or one phase's do not fit beside each other."""
    if found:
        needs.demand_to_boot()
        namespace.demand()
    for hosts in found.values():
        machine.demand_memory(hosts, Size(), machine.free_mib())
