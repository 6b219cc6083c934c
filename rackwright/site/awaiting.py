"""A site before some of its hosts have joined phase 2: fewer hosts, and of everything as much as finds room on them.

While phase 1 serves, its server is still missing in phase 2. What the new hosts carry until it joins follows from the
file: the copies of data, and the replicas of each model, are as many as every rule of a site allows, up to those that
are wished. So whoever reads such a site (stack, checks, rules of alerts) speaks of what is there, and the whole site
afterwards only adds.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from rackwright.errors import Refusal
from rackwright.site.catalog import Catalog
from rackwright.site.hosts import Host
from rackwright.site.models import Model
from rackwright.site.reading.faults import spell
from rackwright.site.reading.judge import Broken
from rackwright.site.reading.nearest import told
from rackwright.site.rules import broken
from rackwright.site.rules.databases import FOR_SYNCHRONOUS
from rackwright.site.serving import Serving
from rackwright.site.site import Site


class CannotServe(Refusal):
    """The hosts that are there cannot carry phase 2."""


class Kind(NamedTuple):
    """Replicas that are counted together: of a model, or of one half of it."""

    model: str
    half: str = ""


Counts = Mapping[Kind, int]


def awaiting(site: Site, names: Collection[str], catalog: Catalog) -> Site:
    """The site until these hosts join; Refusal where there is no such host, or the others cannot carry phase 2."""
    if not names:
        return site
    _refuse_unknown(site, names)
    hosts = tuple(_without_phase_2(host) if host.name in names else host for host in site.hosts)
    fewer = _data(site.model_copy(update={"hosts": hosts}), catalog)
    counts = dict(_least(site))
    smallest = _with(fewer, counts)
    if fault := next(_faults(smallest, catalog), None):
        missing = ", ".join(names)
        raise CannotServe(
            f"Phase 2 of {site.name} cannot serve without {missing}, even with as few replicas as phase 1 has: "
            f"{spell(fault.place)} {fault.what}.",
            f"Add hosts with `phases: [2]`, or take away what phase 2 serves until {missing} joins.",
        )
    return _with(fewer, _most(fewer, counts, catalog))


def _refuse_unknown(site: Site, names: Collection[str]) -> None:
    joining = [host.name for host in site.hosts if host.phases == (1, 2)]
    for name in names:
        if name not in joining:
            cure = told(name, joining) if joining else "Each host of phase 2 is phase 2's alone: await none."
            raise Refusal(f"{name or 'A host without a name'} is no host that phase 1 gives to phase 2 later.", cure)


def _without_phase_2(host: Host) -> Host:
    return host.model_copy(update={"phases": tuple(phase for phase in host.phases if phase != 2)})


def _data(site: Site, catalog: Catalog) -> Site:
    """As many stores and database servers, up to those that are wished, as find hosts and can agree."""
    found = site
    vectors, postgresql = site.vectors, site.postgresql
    for count in range(vectors.phase2.replicas, 0, -1):
        copies = min(vectors.phase2.replication_factor, count)
        spread = vectors.phase2.model_copy(update={"replicas": count, "replication_factor": copies})
        found = site.model_copy(update={"vectors": vectors.model_copy(update={"phase2": spread})})
        if not any(fault.place[0] == "vectors" for fault in _faults(found, catalog)):
            break
    site = found
    for count in range(postgresql.phase2.instances, 0, -1):
        waits = postgresql.phase2.synchronous and count >= FOR_SYNCHRONOUS
        servers = postgresql.phase2.model_copy(update={"instances": count, "synchronous": waits})
        found = site.model_copy(update={"postgresql": postgresql.model_copy(update={"phase2": servers})})
        if not any(fault.place[0] == "postgresql" for fault in _faults(found, catalog)):
            break
    return found


def _wished(site: Site) -> dict[Kind, int]:
    """Replicas of phase 2 as the file has them."""
    found: dict[Kind, int] = {}
    for model, serving in site.models_in(2):
        if serving.disaggregation:
            found[Kind(model.name, "decode")] = serving.disaggregation.decode
            found[Kind(model.name, "prefill")] = serving.disaggregation.prefill
        else:
            found[Kind(model.name)] = serving.replicas
    return found


def _least(site: Site) -> dict[Kind, int]:
    """What must be there: as many as serve in phase 1, whose sessions all come over, and one of what is new."""
    first = {model.name: serving.replicas for model, serving in site.models_in(1)}
    return {
        kind: 1 if kind.half == "prefill" else min(wished, first.get(kind.model, 1))
        for kind, wished in _wished(site).items()
    }


def _most(site: Site, counts: dict[Kind, int], catalog: Catalog) -> Counts:
    """One more at a time of whatever lacks most of what is wished, until nothing more finds room."""
    wished, full = _wished(site), set[Kind]()
    while growing := [kind for kind in counts if counts[kind] < wished[kind] and kind not in full]:
        kind = min(growing, key=lambda each: counts[each] / wished[each])
        tried = counts | {kind: counts[kind] + 1}
        if any(_faults(_with(site, tried), catalog)):
            full.add(kind)
        else:
            counts = tried
    return counts


def _with(site: Site, counts: Counts) -> Site:
    """The site with so many replicas in phase 2."""
    models = tuple(_counted(model, counts) if model.phase2.replicas else model for model in site.models)
    return site.model_copy(update={"models": models})


def _counted(model: Model, counts: Counts) -> Model:
    serving: Serving = model.phase2
    if serving.disaggregation:
        decode, prefill = counts[Kind(model.name, "decode")], counts[Kind(model.name, "prefill")]
        halves = serving.disaggregation.model_copy(update={"decode": decode, "prefill": prefill})
        fewer = serving.model_copy(update={"replicas": decode + prefill, "disaggregation": halves})
    else:
        fewer = serving.model_copy(update={"replicas": counts[Kind(model.name)]})
    return model.model_copy(update={"phase2": fewer})


def _faults(site: Site, catalog: Catalog) -> Iterator[Broken]:
    """What rules have against it."""
    blocks = {name: getattr(site, name) for name in Site.model_fields}
    return broken(blocks | {"site": site, "catalog": catalog})
