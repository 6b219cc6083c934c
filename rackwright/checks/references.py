"""References: what an object names must be there, since a simulated pod starts whatever it names."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from rackwright.checks.findings import Finding, failed, not_seen, whole
from rackwright.checks.objects import Object, Objects, spell
from rackwright.checks.promises import Promise, promises


class Reference(NamedTuple):
    """One object naming another, and perhaps a key in it."""

    where: str
    kind: str
    name: str
    namespace: str = ""
    key: str = ""

    @property
    def target(self) -> str:
        """The other as people name it."""
        place = f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"
        return f"{place} with key {self.key}" if self.key else place


Source = Callable[[Objects], Iterator[Reference]]

BUILT_IN = {
    ("PriorityClass", "system-node-critical"),
    ("PriorityClass", "system-cluster-critical"),
}


def look_up(objects: Objects, sources: tuple[Source, ...]) -> Iterator[Finding]:
    """What our objects name and what is not there; what operators still have to make is only said."""
    promised = promises(objects)
    named = sorted({reference for source in sources for reference in source(objects)})
    faults = [finding for each in named if (finding := _fault(objects, promised, each))]
    yield from whole(faults, "cluster", f"{len(named) - len(faults)} references lead somewhere")


def _fault(objects: Objects, promised: dict[tuple[str, str, str], Promise], reference: Reference) -> Finding | None:
    if (reference.kind, reference.name) in BUILT_IN:
        return None
    found = objects.get(reference.kind, reference.name, reference.namespace)
    promise = promised.get((reference.kind, reference.namespace, reference.name))
    if found is None and promise is not None:
        return _of_a_promise(objects, reference, promise)
    if found is None:
        return failed(
            reference.where,
            f"names {reference.target}, which is not there",
            f"Make it, or name another; there {_others(objects, reference)}.",
        )
    if reference.key and reference.key not in keys_of(found):
        return failed(
            reference.where,
            f"names the key {reference.key} of {spell(found)}, which has only {', '.join(keys_of(found)) or 'none'}",
            "Put the key in, or name one that is there.",
        )
    return None


def keys_of(found: Object) -> list[str]:
    """The keys of a Secret or ConfigMap."""
    return sorted({**(found.get("data") or {}), **(found.get("binaryData") or {})})


def _of_a_promise(objects: Objects, reference: Reference, promise: Promise) -> Finding:
    what = f"names {reference.target}, which {promise.by} makes for {promise.of}"
    if objects.simulated:
        return not_seen(reference.where, f"{what}; no {promise.by} runs here")
    return failed(reference.where, f"{what} and has not made", f"See why: kubectl describe {promise.of.lower()}.")


def _others(objects: Objects, reference: Reference) -> str:
    names = [each["metadata"]["name"] for each in objects.all(reference.kind, reference.namespace or None)]
    return f"are {', '.join(sorted(names)[:8])}" if names else f"is no {reference.kind}"
