"""What ping says of a peer."""

import re
from statistics import median
from typing import NamedTuple

from rackwright.preflight.answers import Ping
from rackwright.preflight.parsers.tables import why_not
from rackwright.preflight.seen import NotSeen

REPLY = re.compile(r"ttl=(\d{1,3}) time=([\d.]{1,12}) ms", re.ASCII)
LOCAL_LIMIT = re.compile(r"[Mm]essage too long, mtu[=: ]+(\d{1,6})", re.ASCII)
PATH_LIMIT = re.compile(r"From (\S{1,60}).{0,40}Frag needed and DF set \(mtu = (\d{1,6})\)", re.ASCII)
NOT_ASKED = 127
FIRST_TTLS = (64, 128, 255)  # with which systems send


class Reached(NamedTuple):
    """Whether a packet came back; what was too small for it, and where; ms there and back; routers between."""

    answered: bool
    own_limit: int | None
    path_limit: tuple[str, int] | None
    round_trip_ms: float | None
    routers: int


def reached(ping: Ping) -> Reached:
    """One ping understood; NotSeen where it could not be sent for a reason of the machine's own."""
    replies = REPLY.findall(ping.out)
    words = f"{ping.out}\n{ping.error}"
    own, path = LOCAL_LIMIT.search(words), PATH_LIMIT.search(words)
    if ping.code == NOT_ASKED and not replies:
        raise NotSeen("The way to other hosts", f"ping: {why_not(ping)}")
    times = [time for _, word in replies if (time := _number(word)) is not None]
    return Reached(
        answered=bool(times),
        own_limit=int(own[1]) if own else None,
        path_limit=(path[1], int(path[2])) if path else None,
        round_trip_ms=median(times) if times else None,
        routers=max((_routers(int(ttl)) for ttl, _ in replies), default=0),
    )


def _routers(ttl: int) -> int:
    """How many have counted down from the nearest value that systems begin with."""
    return min((first - ttl for first in FIRST_TTLS if first >= ttl), default=0)


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None
