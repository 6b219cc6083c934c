"""CloudNativePG, played: what it would do with Clusters of real APIs it does with servers of this machine.

It reads what both Clusters say and makes, demotes, promotes and removes real servers accordingly, with tokens as the
operator writes and judges them. What the operator would refuse, or answer with a failover, is a fault, which whoever
uses it looks for. It plays one server a Cluster, whatever its `instances`; pods, claims and counts are KWOK's.
"""

import base64
import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rackwright.rollout.postgres.between import NAME
from rackwright.rollout.postgres.objects import CLUSTER, bytes_of, is_copy, primary_of
from rackwright.sandbox.api import Api, Object, Silent
from rackwright.sandbox.postgres import Server

CORE, DATABASES = "/api/v1", "/apis/postgresql.cnpg.io/v1"
NETWORKS = "/apis/networking.k8s.io/v1"
EVERY_S = 0.1
END_S = 60.0
SECRETS = {"postgres-replication": ("tls.crt", "tls.key"), "postgres-ca": ("ca.crt", "ca.key")}
SHOWN = {
    "latestCheckpointTimelineID": "Latest checkpoint's TimeLineID",
    "latestCheckpointREDOLocation": "Latest checkpoint's REDO location",
    "databaseSystemIdentifier": "Database system identifier",
}


@dataclass(frozen=True)
class Place:
    """Where one phase's operator works: its API, the namespace of the Cluster, and the server behind that."""

    phase: str  # phase1 or phase2
    api: Api
    namespace: str
    server: Server

    def get(self, kind: str, name: str, group: str = CORE) -> Object | None:
        """An object of the namespace, by its kind in the plural."""
        return self.api.get(f"{group}/namespaces/{self.namespace}/{kind}/{name}")

    def cluster(self) -> Object | None:
        """The Cluster."""
        return self.get("clusters", CLUSTER, DATABASES)

    def say(self, status: Mapping[str, Any]) -> None:
        """Change what the Cluster shows."""
        path = f"{DATABASES}/namespaces/{self.namespace}/clusters/{CLUSTER}/status"
        self.api.merge(path, {"status": dict(status)})

    def give_certificates(self, which: str = "first") -> None:
        """What the operator makes for its replication user, and the authority that vouches for the server."""
        for name, keys in SECRETS.items():
            data = {key: base64.b64encode(f"{self.phase} {which} {key}".encode()).decode() for key in keys}
            metadata = {"name": name, "namespace": self.namespace}
            path = f"{CORE}/namespaces/{self.namespace}/secrets/{name}"
            self.api.apply(path, {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data})


class PlayedOperator:
    """Both phases' operators, at work until the block ends; `folder` takes what they would refuse."""

    def __init__(self, first: Place, second: Place, folder: Path) -> None:
        self.first, self.second = first, second
        self._faults, self._halted = folder / "faults", folder / "halted"
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self.work, daemon=True)
        self._at_work = threading.Lock()
        self._made: list[Place] = []
        self._off: list[Place] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ends.set()
        self._thread.join(END_S)

    @property
    def faults(self) -> list[str]:
        """What the operator would have refused, or answered with a failover."""
        return self._faults.read_text().splitlines() if self._faults.exists() else []

    def halt(self) -> None:
        """From now on it sees to nothing."""
        self._halted.touch()

    def has_made(self, place: Place) -> bool:
        """Whether a phase's server was made here, with all that belongs to it."""
        return place in self._made

    def power_off(self, place: Place) -> None:
        """A phase's machines are gone: its server dies, and nobody sees to it any more."""
        with self._at_work:
            self._off.append(place)
            place.server.kill()

    def work(self) -> None:
        """See to both, again and again."""
        while not self._ends.wait(EVERY_S):
            try:
                for place in () if self._halted.exists() else (self.first, self.second):
                    with self._at_work:
                        self._see_to(place)
            except Silent:
                continue  # it asks again, as an operator does
            except Exception as error:  # noqa: BLE001 - a fault is to be seen where somebody looks for it
                if not self._ends.is_set():
                    self._fault(f"{type(error).__name__}: {error}")

    def founded(self, place: Place) -> None:
        """A server was made: its certificates are there."""
        place.give_certificates()
        self._made.append(place)

    def _fault(self, words: str) -> None:
        with self._faults.open("a") as file:
            file.write(" ".join(words.split()) + "\n")

    def _see_to(self, place: Place) -> None:
        if place in self._off:
            return
        server, cluster = place.server, place.cluster()
        if cluster is None or "deletionTimestamp" in cluster["metadata"]:
            if place is self.second and server.data.exists():
                server.discard()
            return
        self._judge(cluster["spec"])
        if not server.data.exists():
            if not self._make(place, cluster):
                return
            self.founded(place)
        follows = primary_of(cluster) not in ("", cluster["spec"].get("replica", {}).get("self"))
        server.start()
        is_follower = server.is_follower
        if follows and not is_follower:
            self._demote(place)
        elif is_follower and not follows:
            self._promote(place, cluster)

    def _judge(self, spec: Object) -> None:
        """As the operator's webhook would."""
        known = [each["name"] for each in spec.get("externalClusters", [])]
        replica, bootstrap = spec.get("replica") or {}, spec.get("bootstrap") or {}
        named = [replica.get("source"), bootstrap.get("pg_basebackup", {}).get("source")]
        if unknown := [each for each in named if each and each not in known]:
            self._fault(f"{unknown} is no external cluster")
        if len(bootstrap) > 1:
            self._fault("Only one bootstrap method can be specified at a time")
        if replica.get("promotionToken") and replica["primary"] != replica["self"]:
            self._fault("a token of one that follows")

    def _make(self, place: Place, cluster: Object) -> bool:
        """Phase 1's as it says of itself, with its roles and databases; phase 2's as a copy, where it may begin."""
        server = place.server
        if is_copy(cluster):
            if self._may_begin(place, cluster):
                server.copy(self._other(place).server)
            return server.data.exists()
        if place is self.second:
            self._fault(f"{place.phase} would begin empty")
            return False
        server.make()
        server.start()
        for role in cluster["spec"].get("managed", {}).get("roles", []):
            server.sql(f'CREATE ROLE "{role["name"]}" LOGIN')
        found = place.api.get(f"{DATABASES}/namespaces/{place.namespace}/databases") or {}
        for each in found.get("items", []):
            server.sql(f'CREATE DATABASE "{each["spec"]["name"]}" OWNER "{each["spec"]["owner"]}"')
        return True

    def _may_begin(self, place: Place, cluster: Object) -> bool:
        """A copy begins only where the way is open and the certificates are there."""
        other, own = self._other(place), cluster["spec"]["replica"]["self"]
        entry = next(each for each in cluster["spec"]["externalClusters"] if each["name"] != own)
        return (
            other.get("services", NAME) is not None
            and all(each.get("networkpolicies", NAME, NETWORKS) for each in (place, other))
            and all(place.get("secrets", entry[key]["name"]) is not None for key in ("sslKey", "sslRootCert"))
        )

    def _other(self, place: Place) -> Place:
        return self.first if place is self.second else self.second

    def _demote(self, place: Place) -> None:
        place.server.stop()
        place.say({"demotionToken": token(place.server)})
        place.server.follow(self._other(place).server)
        place.server.start()

    def _promote(self, place: Place, cluster: Object) -> None:
        server, replica = place.server, cluster["spec"].get("replica")
        given = (replica or {}).get("promotionToken")
        if not given:
            self._fault(f"{place.phase} is promoted without a token: a failover")
            if replica is None:  # it knows of no other any more: then there is nobody's token to wait for
                server.promote()
            return
        server.sql("CHECKPOINT")
        wanted, shown = json.loads(base64.b64decode(given)), control(server)
        if wanted["latestCheckpointTimelineID"] != shown["latestCheckpointTimelineID"]:
            self._fault(f"{place.phase} is of another timeline than its token")
        elif bytes_of(wanted["latestCheckpointREDOLocation"]) < bytes_of(shown["latestCheckpointREDOLocation"]):
            self._fault(f"{place.phase} is ahead of its token")
        elif wanted == shown:
            server.promote()
            place.say({"demotionToken": None, "lastPromotionToken": given})


def control(server: Server) -> dict[str, str]:
    """What the operator puts into a token."""
    told = server.run("pg_controldata", "-D", server.data)
    found = {key: re.search(rf"^{line}: +(\S+)$", told, re.MULTILINE) for key, line in SHOWN.items()}
    return {key: line[1] for key, line in found.items() if line}


def token(server: Server) -> str:
    """What a server that ended shows, as the operator writes it."""
    return base64.b64encode(json.dumps(control(server)).encode()).decode()
