"""Who keeps the time."""

from rackwright.preflight.answers import Clock
from rackwright.preflight.seen import NotSeen

CHRONY_FIELDS, CHRONY_STRATUM, CHRONY_LEAP = 14, 2, 13
ADRIFT = "Not synchronised"


def properties(words: str) -> dict[str, str]:
    """Lines of NAME=VALUE, as systemd's tools write them."""
    return {name: value for name, equals, value in (line.partition("=") for line in words.splitlines()) if equals}


def is_synchronised(clock: Clock) -> bool:
    """By chrony where it answers, else by the kernel as timedatectl shows it."""
    fields = clock.chrony.out.strip().split(",")
    if clock.chrony.code == 0 and len(fields) >= CHRONY_FIELDS:
        return fields[CHRONY_LEAP].strip() != ADRIFT and fields[CHRONY_STRATUM] != "0"
    shown = properties(clock.timedatectl.out).get("NTPSynchronized")
    if clock.timedatectl.code or shown is None:
        reason = clock.timedatectl.error.strip().splitlines() or ["it says nothing of it"]
        raise NotSeen("Whether the clock is synchronised", f"timedatectl: {reason[0].rstrip('.')}")
    return shown == "yes"
