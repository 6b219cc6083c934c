"""Whether a member may leave etcd: those who stay must be a majority that is well, or nothing is written any more."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple


class Member(NamedTuple):
    """A member of etcd; one that has not started yet has no name and no address."""

    name: str
    addresses: tuple[str, ...]


def members(said: str) -> list[Member]:
    """Members out of `etcdctl member list --write-out json`."""
    listed = json.loads(said)["members"]
    return [Member(each.get("name", ""), tuple(each.get("clientURLs") or ())) for each in listed]


def healthy(said: str) -> set[str]:
    """Addresses that are well, out of `etcdctl endpoint health --cluster --write-out json`."""
    listed: list[dict[str, Any]] = json.loads(said) if said.strip() else []
    return {each["endpoint"] for each in listed if each.get("health")}


def why_it_stays(name: str, known: Sequence[Member], well: set[str]) -> str:
    """Why a member may not leave, with the cure; empty where it may, or is none."""
    if name not in {member.name for member in known}:
        return ""
    stay = [member for member in known if member.name != name]
    if not stay:
        return (
            f"{name} is the last member of etcd, and the cluster would end with it: playbooks/reset.yml ends a cluster."
        )
    sound = [member for member in stay if well.intersection(member.addresses)]
    needed = len(stay) // 2 + 1
    if len(sound) >= needed:
        return ""
    ill = ", ".join(member.name or "one that never started" for member in stay if member not in sound)
    return (
        f"Without {name} etcd has {len(stay)} members, and {needed} of them must be well; {ill} is not: mend that "
        "first, or take that one out instead."
    )
