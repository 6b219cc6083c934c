"""Both phases' doors, as clients meet them: their certificates, the keys that open them, and where the name leads."""

import http.client
import socket
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rackwright.errors import Refusal
from rackwright.rollout.gates import DAYS, Reading
from rackwright.rollout.world import Found, State

PATIENCE_S = 10
DAY_S = 86_400


@dataclass(frozen=True)
class Door:
    """One phase's door: its address, and the name that its certificate must bear."""

    phase: int
    address: str
    port: int
    host: str

    def connect(self, context: ssl.SSLContext) -> ssl.SSLSocket:
        """A connection to it; OSError where there is none, or where it is not who it must be."""
        plain = socket.create_connection((self.address, self.port), PATIENCE_S)
        try:
            return context.wrap_socket(plain, server_hostname=self.host)
        except OSError:
            plain.close()
            raise


@dataclass(frozen=True)
class Certificates:
    """The gate `certificates-good`: each door's certificate is the authority's, and good for some days more."""

    doors: Sequence[Door]
    authority: str  # in PEM
    clock: Callable[[], float] = time.time

    def __call__(self) -> Reading:
        """Meet each of them."""
        wanted = f"of the vault's authority, and good for {DAYS} days more"
        context = ssl.create_default_context(cadata=self.authority)
        seen, is_well = [], True
        for door in self.doors:
            try:
                with door.connect(context) as met:
                    until = ssl.cert_time_to_seconds(str((met.getpeercert() or {})["notAfter"]))
            except ssl.SSLCertVerificationError as error:
                said, well = f"is not believed ({error.verify_message})", False
            except (OSError, KeyError) as error:
                said, well = f"was not met ({error or type(error).__name__})", False
            else:
                days = (until - self.clock()) / DAY_S
                said, well = f"good for {days:.0f} days", days >= DAYS
            seen.append(f"phase {door.phase}'s {said}")
            is_well = is_well and well
        return Reading(is_well, "; ".join(seen), wanted)


@dataclass(frozen=True)
class Keys:
    """The gate `keys-equal`: every tenant's key opens both doors, and none opens neither."""

    doors: Sequence[Door]
    authority: str
    model: str  # that both serve
    keys: Mapping[str, str] = field(repr=False)  # by tenant

    def __call__(self) -> Reading:
        """Ask each door with each key for what it serves, which costs no engine anything."""
        wanted = f"{len(self.keys)} keys open both doors, and without one they are shut"
        context = ssl.create_default_context(cadata=self.authority)
        faults = []
        for door in self.doors:
            for tenant, key in (("nobody", ""), *self.keys.items()):
                status = _asked(door, context, self.model, key)
                is_open = status not in (None, http.client.UNAUTHORIZED, http.client.FORBIDDEN)
                if status is None or is_open != bool(key):
                    faults.append(f"phase {door.phase}'s answers {tenant} with {status or 'nothing'}")
        return Reading(not faults, "; ".join(faults[:6]) or "so it is", wanted)


def _asked(door: Door, context: ssl.SSLContext, model: str, key: str) -> int | None:
    """The status of an answer; None where there was none."""
    connection = http.client.HTTPConnection(door.host, door.port)
    try:
        connection.sock = door.connect(context)
        connection.request("GET", f"/{model}/v1/models", headers={"Authorization": f"Bearer {key}"} if key else {})
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def resolved(host: str) -> frozenset[str]:
    """Addresses to which a name leads from here; none where nobody knows it."""
    try:
        return frozenset(str(each[4][0]) for each in socket.getaddrinfo(host, None, socket.AF_INET))
    except socket.gaierror:
        return frozenset()


@dataclass(frozen=True)
class Name:
    """`cut-over/door`: the door's name leads to phase 2.

    Name servers are the site's, not Rackwright's: whoever keeps them changes the name, and this step sees that it was
    done. Nobody is refused meanwhile, since phase 1's door sends everything on that still comes to it.
    """

    first: Door
    second: Door
    resolve: Callable[[str], frozenset[str]] = resolved

    def look(self) -> Found:
        """Where the name leads from here."""
        found = self.resolve(self.first.host)
        said = f"{self.first.host} leads to {', '.join(sorted(found)) or 'nowhere'}"
        if found == {self.second.address}:
            return Found(State.DONE, said)
        return Found(State.TO_FINISH if self.second.address in found else State.ABSENT, said)

    def do(self) -> None:
        """Have it changed by whoever may."""
        self._ask_for(self.second, f"phase 1's door sends on what still comes to {self.first.address}")

    def undo(self) -> None:
        """Have it changed back."""
        self._ask_for(self.first, f"phase 2's door answers what still comes to {self.second.address}")

    def _ask_for(self, door: Door, meanwhile: str) -> None:
        raise Refusal(
            f"{self.look().words}, and must lead to {door.address}.",
            f"Change it in your name servers ({meanwhile}); when this machine sees it, run the same command again.",
        )
