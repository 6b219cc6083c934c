"""Keeping two stores in step: what one lacks of the other, and every collection brought to the same points."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from rackwright.errors import Refusal
from rackwright.rollout.gates import Reading
from rackwright.rollout.qdrant.operations import Numbers, operations
from rackwright.rollout.qdrant.passes import Passed, Say, bring
from rackwright.rollout.qdrant.shape import Spread, differing, indexes, make, told
from rackwright.rollout.qdrant.store import Missing, Store, aliases, collections, copies, count, path, version
from rackwright.rollout.qdrant.switch import RESTORED, SWITCH, switch

SHARE, FEW = 0.01, 100  # of points by which a count may differ while applications write: a hundredth, or these


@dataclass(frozen=True)
class Kept:
    """What passes over all collections met; `numbers` are the source's operations when they began."""

    passed: Mapping[str, Passed]
    numbers: Numbers

    def written_since(self, now: Numbers) -> tuple[str, ...]:
        """Collections to which something was written since their pass began, or that are new."""
        return tuple(name for name in now if name not in (SWITCH, RESTORED) and now[name] != self.numbers.get(name))

    def took_s(self, names: Collection[str]) -> float:
        """How long passes over some of them took."""
        return sum(found.took_s for name, found in self.passed.items() if name in names)


def held(store: Store) -> tuple[str, ...]:
    """Applications' collections."""
    return tuple(name for name in collections(store) if name not in (SWITCH, RESTORED))


def refuse_other_releases(first: Store, second: Store) -> None:
    """Refusal where both are not of one minor release: what one tells, the other may not take."""
    one, other = version(first), version(second)
    if one.split(".")[:2] != other.split(".")[:2]:
        raise Refusal(
            f"{first.name} is Qdrant {one}, and {second.name} is {other}.",
            "Bring both to the catalog's release first: pulumi up on the older one.",
        )


def keep(source: Store, target: Store, spread: Spread, say: Say, only: Collection[str] | None = None) -> Kept:
    """Bring the target to what the source holds: collections, their indexes and other names, and every point."""
    standing = switch(target)
    if standing is None or standing.is_open:
        raise Refusal(
            f"{target.name} takes writes, or has no switch: it is nobody's copy.", "Nothing was changed in it."
        )
    numbers = operations(source)
    names = held(source)
    for name in held(target):
        if name not in names:
            say(f"{name}: gone from {source.name}, and removed from {target.name}")
            target.ask("DELETE", path(name))
    passed = {}
    for name in names:
        if only is None or name in only:
            make(target, name, told(source, name), spread)
            _limits(target, name, None)
            passed[name] = bring(source, target, name, say)
            say(
                f"{name}: {passed[name].points} points in {passed[name].took_s:.1f} s, {passed[name].changes} put right"
            )
    _name_alike(source, target)
    return Kept(passed, {name: numbers[name] for name in passed if name in numbers})


def limits_come_along(source: Store, target: Store) -> None:
    """Strict mode as the source has it: it is for applications, and comes with their writes."""
    for name in held(source):
        _limits(target, name, told(source, name)["config"].get("strict_mode_config"))


def lacking(source: Store, target: Store) -> list[str]:
    """What the target lacks or has otherwise, in clauses. Counts may differ by little: applications write meanwhile."""
    found = []
    for name in held(source):
        try:
            there = told(target, name)
        except Missing:
            found.append(f"{name} is not there")
            continue
        here = told(source, name)
        if words := differing(name, here, there):
            found.append(words)
        elif lack := indexes(here).keys() - indexes(there).keys():
            found.append(f"{name} has no index of {', '.join(sorted(lack))}")
        else:
            ours, theirs = count(source, name), count(target, name)
            if abs(ours - theirs) > max(ours * SHARE, min(FEW, ours / 2)):
                found.append(f"{name} has {theirs} of {ours} points")
    return found


def follow(source: Store, target: Store) -> Reading:
    """The gate `collections-follow`."""
    wanted = f"every collection of {source.name}, with its points up to {SHARE:.0%}"
    missing = lacking(source, target)
    if missing:
        return Reading(False, "; ".join(missing), wanted)
    names = held(source)
    points = sum(count(target, name) for name in names)
    return Reading(True, f"{len(names)} collections with {points} points", wanted)


def unequal(source: Store, target: Store) -> tuple[int, dict[str, str]]:
    """Points of all collections, and of those that have not as many in both a clause."""
    total, found = 0, {}
    for name in held(source):
        ours, theirs = count(source, name), count(target, name)
        total += ours
        if ours != theirs:
            found[name] = f"{name} has {ours} points, and {theirs} in {target.name}"
    return total, found


def refuse_missing_copies(store: Store) -> None:
    """Refusal where a copy of a shard is not active: it may lack what the others have."""
    for name in held(store):
        states = copies(store, name)
        if idle := {state: number for state, number in states.items() if state != "Active"}:
            said = ", ".join(f"{number} {state}" for state, number in idle.items())
            raise Refusal(
                f"Of {name} in {store.name} not every copy is active: {said}.", "Wait until they are; try again."
            )


def _limits(target: Store, name: str, wanted: Mapping[str, Any] | None) -> None:
    found = told(target, name)["config"].get("strict_mode_config") or {}
    known = {key: value for key, value in (wanted or {}).items() if value is not None}
    if known and known != found:
        target.ask("PATCH", path(name), {"strict_mode_config": known})
    elif not known and found.get("enabled"):
        target.ask("PATCH", path(name), {"strict_mode_config": {"enabled": False}})


def _name_alike(source: Store, target: Store) -> None:
    wanted, found = aliases(source), aliases(target)
    actions: list[dict[str, Any]] = [
        {"delete_alias": {"alias_name": name}} for name, of in found.items() if wanted.get(name) != of
    ]
    actions += [
        {"create_alias": {"alias_name": name, "collection_name": of}}
        for name, of in wanted.items()
        if found.get(name) != of
    ]
    if actions:
        target.ask("POST", "/collections/aliases", {"actions": actions})
