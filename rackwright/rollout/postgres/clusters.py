"""Two clusters of CloudNativePG as the two sides: what `Pair` asks for, by objects of the operators and a stack."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from rackwright.errors import Refusal
from rackwright.rollout.postgres.between import NAME, policy, secret, secrets_of, service
from rackwright.rollout.postgres.cluster import HALF_MADE, KIND, Object, PhaseCluster
from rackwright.rollout.postgres.objects import (
    CLUSTER,
    End,
    bytes_of,
    end_of,
    following,
    is_copy,
    lacks_standbys,
    not_archiving,
    nothing,
    part_of_both,
    plain,
    primary_of,
    promoted,
    token_of,
)
from rackwright.rollout.postgres.server import Server, answers, is_follower
from rackwright.site.postgresql import Databases

FOUNDED_S, ENDED_S, PROMOTED_S, UP_S = 24 * 3600.0, 120.0, 120.0, 300.0
NUDGE_S, EVERY_S, SLOWLY_S = 1.0, 0.2, 5.0
END = "CHECKPOINT;\nSELECT timeline_id || ' ' || redo_lsn FROM pg_control_checkpoint()"


class Registered(Protocol):
    """What phase 2's stack says of its databases (`rackwright:databases`)."""

    def founding(self) -> Object:
        """The Cluster that it would register, without how it begins."""

    def put(self, databases: Databases) -> None:
        """Have it so, and wait until it is."""


@dataclass(frozen=True)
class ClusterPair:
    """Phase 1's and phase 2's."""

    first: PhaseCluster
    second: PhaseCluster
    stack: Registered
    sleep: Callable[[float], None] = time.sleep

    @property
    def old(self) -> Server:
        """Phase 1's."""
        return self.first.server

    @property
    def new(self) -> Server:
        """Phase 2's."""
        return self.second.server

    def has_copy(self) -> bool:
        """Whether phase 2 has a Cluster, or a volume of one."""
        return self.second.found() is not None or self.second.has_volumes()

    def is_whole(self) -> bool:
        """Whether phase 2's stack has taken it up."""
        found = self.second.found()
        return found is not None and HALF_MADE not in found["metadata"].get("annotations", {})

    def copy(self) -> None:
        """Open the way, found phase 2's as a copy where there is none, and let its stack take it up."""
        first, second = self.first, self.second
        found = second.found()
        self._refuse_to_touch(found)
        wished = self.stack.founding()
        for own, other in ((first, second), (second, first)):
            own.apply(service(own.side), policy(other.side))
        self.renew()
        if not primary_of(self._there(first)):
            first.say(part_of_both(first.side, second.side))
        wanted = following(second.side, first.side)
        if found is None:
            second.make(wished, wanted)
        second.say(wanted, is_half=True)
        self.stack.put("copied")  # which says no word of whom it follows: that is from here on the rollout's alone
        second.say(wanted)
        self._until(lambda: answers(self.new), FOUNDED_S, f"{second.title} is not up", every_s=SLOWLY_S)
        self.renew()

    def discard(self) -> None:
        """Take everything away again; the server itself last, so that a run that was cut off is seen."""
        self._refuse_to_discard()
        self.stack.put("awaited")
        self._refuse_to_discard()  # that took a while, and another checkout's lock is not seen here
        self.first.say(nothing())
        self._shut(self.first, self.second)
        self._shut(self.second, self.first)
        self._refuse_to_touch(self.second.found())
        self.second.delete(KIND, CLUSTER)
        self._until(lambda: not self.second.has_volumes(), UP_S, f"volumes of {self.second.title} are not gone")

    def settle(self) -> None:
        """An operator that was told a moment ago has yet to end a server, or to promote it."""
        for own in (self.first, self.second):
            found = own.found()
            if found and (primary := primary_of(found)):
                takes, server = primary == own.side.name, own.server
                what = f"{own.title} was told to {'take writes' if takes else 'follow'}, and does not"
                self._until(lambda: not answers(server) or is_follower(server) != takes, ENDED_S, what)  # noqa: B023

    def prepare(self) -> None:
        """Before writes pause: certificates that were renewed, and on both sides little left to be written.

        Refusal where a log is not archived, since whoever ends gives no token then and whoever takes over has no
        backups, and where commits of whoever takes over would wait for standbys.
        """
        for each in (self.first, self.second):
            self._refuse_unready(each, self._there(each))
        self.renew()
        for server in (self.old, self.new):
            server.sql("CHECKPOINT")

    def demote(self, side: Server) -> None:
        """Tell it that the other one takes writes, and wait until it says how far its log went."""
        own, other = self._both(side)
        own.say(following(own.side, other.side))
        self._until(lambda: bool(token_of(self._there(own))), ENDED_S, f"{own.title} does not end", nudged=own)

    def promote(self, side: Server) -> None:
        """Tell it with the token that says of the log's end what this side shows, and of no other; then wait."""
        own, other = self._both(side)
        if primary_of(self._there(own)) != own.side.name:
            own.say(promoted(own.side, other.side, self._token(own, other)))
        self._until(lambda: answers(side) and not is_follower(side), PROMOTED_S, f"{own.title} is not promoted")

    def follow(self, side: Server) -> None:
        """The operator has started it; it is only told again, and waited for."""
        own, other = self._both(side)
        if primary_of(self._there(own)) == own.side.name:
            own.say(following(own.side, other.side))
        self.renew()
        self._until(lambda: answers(side) and is_follower(side), UP_S, f"{own.title} does not come up as a follower")

    def renew(self) -> None:
        """Bring each side's certificates to the other; its operator renews them. Each is asked once."""
        first, second = self.first, self.second
        of_first, of_second = secrets_of(first.side), secrets_of(second.side)
        in_first = first.secrets(*(source for source, _ in of_first.values()), *of_second)
        in_second = second.secrets(*(source for source, _ in of_second.values()), *of_first)
        for needed, here, other, there in (
            (of_first, in_first, second, in_second),
            (of_second, in_second, first, in_first),
        ):
            for name, (source, keys) in needed.items():
                told = here.get(source, {})
                wanted = {key: told[key] for key in keys if key in told}
                if wanted and there.get(name) != wanted:
                    other.apply(secret(name, wanted))

    def is_parted(self) -> bool:
        """Whether phase 2's is a cluster like any other, and nothing of the way is left."""
        found = self.second.found()
        if found is None or primary_of(found) or is_copy(found):
            return False
        return not any(cluster.has("service", NAME) for cluster in (self.first, self.second))

    def part(self) -> None:
        """Phase 2's follows nobody any more, nor is it followed. Phase 1's stays one that takes no writes."""
        first, second = self.first, self.second
        found = self._there(second)
        if primary_of(found) == first.side.name or is_follower(self.new):
            raise Refusal(f"{second.title} does not take writes.", "Go through the cut-over first.")
        if primary_of(self._there(first)) == first.side.name:
            raise Refusal(f"{first.title} is told to take writes.", "Let it follow first: rackwright rollout run.")
        self._shut(first, second)
        second.say(plain())
        self.stack.put("own")
        self._shut(second, first)

    def _shut(self, own: PhaseCluster, other: PhaseCluster) -> None:
        own.delete("secret", *secrets_of(other.side))
        own.delete("networkpolicy", NAME)
        own.delete("service", NAME)

    def _token(self, own: PhaseCluster, other: PhaseCluster) -> str:
        fits: list[str] = []

        def shown() -> bool:
            timeline, position = own.server.sql(END).split()
            end = End(int(timeline), bytes_of(position))
            found = [self._there(each) for each in (other, own)]  # each asked once: it is in the pause
            fits[:] = [token for each in found if end_of(token := token_of(each)) == end]
            # A side that takes writes may show an old token still, and a copy that was cut off may fit it.
            return bool(fits) and primary_of(found[0]) != other.side.name

        self._until(shown, ENDED_S, f"No token says that the log ended where {own.title} is", nudged=other)
        return fits[0]

    def _refuse_unready(self, own: PhaseCluster, found: Object) -> None:
        takes = primary_of(found) == own.side.name
        if (why := not_archiving(found)) and (takes or own is self.second):
            raise Refusal(
                f"{own.title} does not archive its log: {why[:300].rstrip('.')}.",
                f"Mend that first. Where it expected an empty archive, an earlier server's log lies in the folder "
                f"{own.side.name} of the object storage: move that folder away.",
            )
        if not takes and lacks_standbys(found):
            raise Refusal(
                f"{own.title} has too few instances ready, and a commit there waits for a standby.",
                "Wait until they are: kubectl -n postgres get pods.",
            )

    def _refuse_to_discard(self) -> None:
        self._refuse_to_touch(self.second.found())
        if primary_of(self._there(self.first)) == self.second.side.name:
            raise Refusal(f"{self.first.title} has ended its writes.", "Take the cut-over back first.")

    def _refuse_to_touch(self, found: Object | None) -> None:
        """A server that holds anything of its own is never thrown away, nor told to follow."""
        if found is None:
            return
        if not is_copy(found):
            what = f"{self.second.title} was not founded as a copy of {self.first.title}."
            raise Refusal(what, "Where nobody needs what it holds: pulumi destroy -s phase2; then go on.")
        if primary_of(found) == self.second.side.name:
            raise Refusal(f"{self.second.title} was promoted.", "Take the cut-over back first.")

    def _there(self, cluster: PhaseCluster) -> Object:
        found = cluster.found()
        if found is None:
            raise Refusal(f"{cluster.title} is not there.", "See kubectl -n postgres get clusters.")
        return found

    def _both(self, side: Server) -> tuple[PhaseCluster, PhaseCluster]:
        is_first = side.name == self.first.title
        return (self.first, self.second) if is_first else (self.second, self.first)

    def _until(
        self,
        look: Callable[[], bool],
        patience_s: float,
        what: str,
        *,
        every_s: float = EVERY_S,
        nudged: PhaseCluster | None = None,
    ) -> None:
        began = last = time.monotonic()
        while not _is_so(look):
            now = time.monotonic()
            if now - began > patience_s:
                raise Refusal(f"{what} after {patience_s:g} s.", "See its operator's log; the same command goes on.")
            if nudged and now - last > NUDGE_S:
                nudged.nudge(int(now))
                last = now
            self.sleep(every_s)


def _is_so(look: Callable[[], bool]) -> bool:
    """What does not answer for a moment is asked again: a pause must not last until somebody comes."""
    try:
        return look()
    except Refusal:
        return False
