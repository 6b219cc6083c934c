"""CloudNativePG, played: what it would do with Clusters of a real Kubernetes API it does with servers of this machine.

It reads what both Clusters say and makes, demotes, promotes and removes real servers accordingly, with tokens as the
operator writes and judges them. What the operator would refuse, or answer with a failover, is a fault, which every
test looks for. No pod runs: psql in one is played by a stand-in for kubectl, which leads to the server's socket.
"""

import base64
import json
import multiprocessing
import re
import secrets
import stat
import time
from dataclasses import dataclass

from local_pair import LocalPair, Ticked

from components.postgres import objects
from rackwright.rollout.postgres.between import NAME
from rackwright.rollout.postgres.cluster import PhaseCluster
from rackwright.rollout.postgres.objects import bytes_of, is_copy, primary_of

EVERY_S = 0.1
# Both phases live in one API here, each in a namespace of its own.
KUBECTL = """#!/bin/bash
echo "$@" >> {said}
words=()
for word in "$@"; do
  case "$word" in
    --namespace=postgres) words+=("--namespace={namespace}");;
    psql) words=("{programs}/psql" "--host={sockets}");;
    *) words+=("$word");;
  esac
done
case "${{words[0]}}" in
  */psql) exec "${{words[@]}}";;
esac
exec {kubectl} --kubeconfig={kubeconfig} "${{words[@]}}"
"""


class PlayedOperator:
    """Both phases' operators. `certificate` is what each gives its replication user; it may be renewed."""

    def __init__(self, kubectl, pair: LocalPair, folder):
        self.kubectl, self.pair = kubectl, pair
        self.servers = dict(zip(("phase1", "phase2"), (pair.first, pair.second), strict=True))
        self.folder, self.certificate = folder, "first"
        self._faults, self._halted = folder / "faults", folder / "halted"
        self.suffix = secrets.token_hex(3)  # whoever takes a namespace away waits long for it
        # A process of its own: whoever is forked beside a thread that starts programs holds their pipes open.
        self._process = multiprocessing.get_context("fork").Process(target=self._work, daemon=True)

    def __enter__(self):
        for phase in self.servers:
            self.kubectl("create", "namespace", self.namespace_of(phase))
        self.give_certificates("phase1")
        self._process.start()
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.join(120)
        for phase in self.servers:
            self.kubectl("delete", "services", "--all", f"--namespace={self.namespace_of(phase)}")  # ports are few
            self.kubectl("delete", "namespace", self.namespace_of(phase), "--wait=false")

    @property
    def faults(self):
        """What the operator would have refused, or answered with a failover."""
        return self._faults.read_text().splitlines() if self._faults.exists() else []

    def halt(self):
        """From now on it sees to nothing."""
        self._halted.touch()

    def namespace_of(self, phase):
        return f"{phase}-{self.suffix}"

    def program(self, phase):
        """A kubectl for one phase."""
        found = self.folder / f"kubectl-{phase}"
        server, namespace = self.servers[phase], self.namespace_of(phase)
        words = {"programs": server.programs, "sockets": server.sockets, "said": self.folder / "said"}
        own = {"kubectl": self.kubectl.program, "kubeconfig": self.kubectl.kubeconfig, "namespace": namespace}
        found.write_text(KUBECTL.format(**words, **own))
        found.chmod(found.stat().st_mode | stat.S_IXUSR)
        return [str(found)]

    def give_certificates(self, phase):
        for name, keys in (("postgres-replication", ("tls.crt", "tls.key")), ("postgres-ca", ("ca.crt", "ca.key"))):
            data = {key: f"{phase} {self.certificate} {key}" for key in keys}
            metadata = {"name": name, "namespace": self.namespace_of(phase)}
            self.kubectl.apply([{"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": data}])

    def get(self, kind, name, phase):
        where = f"--namespace={self.namespace_of(phase)}"
        told = self.kubectl("get", kind, name, where, "--ignore-not-found", "--output=json")
        return json.loads(told) if told else None

    def _work(self):
        while True:
            time.sleep(EVERY_S)
            try:
                told = json.loads(self.kubectl("get", "clusters.postgresql.cnpg.io", "-A", "--output=json"))["items"]
                found = {each["metadata"]["namespace"]: each for each in told}
                for phase in () if self._halted.exists() else self.servers:
                    self._see_to(phase, found.get(self.namespace_of(phase)))
            except Exception as error:  # noqa: BLE001 - a fault is to be seen where the test looks
                self._fault(f"{type(error).__name__}: {error}")

    def _fault(self, words):
        with self._faults.open("a") as file:
            file.write(" ".join(words.split()) + "\n")

    def _see_to(self, phase, cluster):
        server = self.servers[phase]
        if cluster is None:
            if phase == "phase2" and server.data.exists():
                self.pair.discard()
            return
        self._judge(cluster["spec"])
        if not server.data.exists():
            if not self._may_begin(phase, cluster):
                return
            server.copy(self.pair.first)
            self.give_certificates(phase)
            self._say(phase, {"readyInstances": cluster["spec"]["instances"]})
        follows = primary_of(cluster) not in ("", cluster["spec"].get("replica", {}).get("self"))
        self.pair._start(server)
        is_follower = server.sql("SELECT pg_is_in_recovery()") == "t"
        if follows and not is_follower:
            self._demote(phase, server)
        elif is_follower and not follows:
            self._promote(phase, server, cluster)

    def _judge(self, spec):
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

    def _may_begin(self, phase, cluster):
        """A copy begins only where the way is open and the certificate there."""
        if not is_copy(cluster):
            self._fault(f"{phase} would begin empty")
            return False
        other = "phase1" if phase == "phase2" else "phase2"
        entry = next(each for each in cluster["spec"]["externalClusters"] if each["name"] != f"lab-{phase}")
        return (
            self.get("service", NAME, other) is not None
            and all(self.get("networkpolicy", NAME, each) for each in (phase, other))
            and self.get("secret", entry["sslKey"]["name"], phase) is not None
            and self.get("secret", entry["sslRootCert"]["name"], phase) is not None
        )

    def _demote(self, phase, server):
        self.pair._stop(server)
        self._say(phase, {"demotionToken": token(server)})
        self.pair._let_follow(server)
        self.pair._start(server)

    def _promote(self, phase, server, cluster):
        given = cluster["spec"].get("replica", {}).get("promotionToken")
        if not given:
            self._fault(f"{phase} is promoted without a token: a failover")
            return
        server.sql("CHECKPOINT")
        wanted, shown = json.loads(base64.b64decode(given)), control(server)
        if wanted["latestCheckpointTimelineID"] != shown["latestCheckpointTimelineID"]:
            self._fault(f"{phase} is of another timeline than its token")
        elif bytes_of(wanted["latestCheckpointREDOLocation"]) < bytes_of(shown["latestCheckpointREDOLocation"]):
            self._fault(f"{phase} is ahead of its token")
        elif wanted == shown:
            server.promote()
            self._say(phase, {"demotionToken": None, "lastPromotionToken": given})

    def _say(self, phase, status):
        how = ("--subresource=status", "--type=merge", f"--patch={json.dumps({'status': status})}")
        where = f"--namespace={self.namespace_of(phase)}"
        self.kubectl("patch", "clusters.postgresql.cnpg.io", "postgres", where, *how)


def control(server):
    """What the operator puts into a token."""
    told = server.run("pg_controldata", "-D", server.data).stdout
    lines = {
        "latestCheckpointTimelineID": "Latest checkpoint's TimeLineID",
        "latestCheckpointREDOLocation": "Latest checkpoint's REDO location",
        "databaseSystemIdentifier": "Database system identifier",
    }
    return {key: re.search(rf"^{line}: +(\S+)$", told, re.MULTILINE)[1] for key, line in lines.items()}


def token(server):
    return base64.b64encode(json.dumps(control(server)).encode()).decode()


class PlayedStack:
    """A stack's Cluster, applied as Pulumi's provider does it: under the name that it is told, without force."""

    def __init__(self, operator, site, image, phase):
        self.operator, self.namespace, self.databases = operator, operator.namespace_of(f"phase{phase}"), "awaited"
        self.manifest = objects.cluster(site.postgresql, site.postgresql.in_phase(phase), image=image)

    def founding(self):
        return objects.without_founding(self.manifest)

    def put(self, databases):
        self.operator.pair.ticks()
        if databases != "awaited":
            wanted = self.manifest if databases == "own" else self.founding()
            wanted = {**wanted, "metadata": {**wanted["metadata"], "namespace": self.namespace}}
            name = wanted["metadata"]["annotations"]["pulumi.com/patchFieldManager"]
            how = ("--server-side", f"--field-manager={name}", "--filename=-")
            self.operator.kubectl("apply", *how, given=json.dumps(wanted))
        self.databases = databases
        self.operator.pair.ticks()


@dataclass(frozen=True)
class TickedCluster(PhaseCluster):
    """May be killed before and after each change of an object, and each statement that changes a server."""

    pair: LocalPair | None = None

    @property
    def server(self):
        return _Named(super().server, self.pair)

    def apply(self, *wanted, **under):
        self.pair.ticks()
        super().apply(*wanted, **under)
        self.pair.ticks()

    def delete(self, kind, *names):
        self.pair.ticks()
        super().delete(kind, *names)
        self.pair.ticks()


class _Named(Ticked):
    def __init__(self, console, pair):
        self._console, self._pair, self.name = console, pair, console.name
