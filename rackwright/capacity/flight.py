"""A model call on its way through a replica, and the steps that are under way."""

from dataclasses import dataclass


@dataclass(slots=True)
class Call:
    """One model call: lengths in tokens, times in ms; a smaller `priority` goes first."""

    session: int
    priority: int
    prompt: int
    output: int
    action: int = -1
    reuses: int = 0  # tokens that stand in the cache if the session's last context is still there
    came: float = 0.0
    first: float = -1.0
    last: float = -1.0
    hit: int = 0
    order: int = 0
    done: int = 0  # prompt tokens computed or found
    said: int = 0  # tokens said before it lost its room
    preempted: int = 0


@dataclass(slots=True)
class Segment:
    """Steps under way: `count` of `each_ms` from `began` on."""

    began: float
    each_ms: float
    count: int
    tokens: int
