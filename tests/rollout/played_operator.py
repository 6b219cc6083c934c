"""The played operator (rackwright/rollout/rehearsal/operator.py) with both phases in one API, as tests have it."""

import json
import multiprocessing
import secrets
from dataclasses import dataclass

from local_pair import LocalPair, Ticked

from components.postgres import objects
from rackwright.rollout.postgres.cluster import PhaseCluster
from rackwright.rollout.rehearsal import operator
from rackwright.rollout.rehearsal.kubectl import stand_in
from rackwright.sandbox.api import Api

# Both phases live in one API here, each in a namespace of its own.
NAMESPACED = """#!/bin/bash
echo "$@" >> {said}
exec {program} "${{@/#--namespace=postgres/--namespace={namespace}}}"
"""


class PlayedOperator(operator.PlayedOperator):
    """Both phases' operators. `certificate` is what each gives its replication user; it may be renewed."""

    def __init__(self, kubectl, pair: LocalPair, folder):
        self.kubectl, self.pair, self.folder, self.certificate = kubectl, pair, folder, "first"
        self.suffix = secrets.token_hex(3)  # whoever takes a namespace away waits long for it
        api = Api(kubectl.kubeconfig)
        self.places = {
            phase: operator.Place(phase, api, f"{phase}-{self.suffix}", server)
            for phase, server in (("phase1", pair.first), ("phase2", pair.second))
        }
        super().__init__(self.places["phase1"], self.places["phase2"], folder)
        # A process of its own: whoever is forked beside a thread that starts programs holds their pipes open.
        self._process = multiprocessing.get_context("fork").Process(target=self.work, daemon=True)

    def __enter__(self):
        for place in self.places.values():
            self.kubectl("create", "namespace", place.namespace)
        self.give_certificates("phase1")
        self._process.start()
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.join(120)
        for place in self.places.values():
            self.kubectl("delete", "services", "--all", f"--namespace={place.namespace}")  # ports are few
            self.kubectl("delete", "namespace", place.namespace, "--wait=false")

    def founded(self, place):
        """No pod comes up here, so nobody counts instances."""
        super().founded(place)
        place.say({"readyInstances": place.cluster()["spec"]["instances"]})

    def program(self, phase):
        """A kubectl for one phase."""
        place = self.places[phase]
        real = [str(self.kubectl.program), f"--kubeconfig={self.kubectl.kubeconfig}"]
        inner = stand_in(self.folder / f"inner-{phase}", real, server=place.server)
        found = self.folder / f"kubectl-{phase}"
        words = {"said": self.folder / "said", "program": inner, "namespace": place.namespace}
        found.write_text(NAMESPACED.format(**words))
        found.chmod(0o700)
        return [str(found)]

    def give_certificates(self, phase):
        self.places[phase].give_certificates(self.certificate)

    def get(self, kind, name, phase):
        where = f"--namespace={self.places[phase].namespace}"
        told = self.kubectl("get", kind, name, where, "--ignore-not-found", "--output=json")
        return json.loads(told) if told else None

    def there(self, phase, *named):
        """Those of the named objects, each written kind/name, that are there."""
        where = f"--namespace={self.places[phase].namespace}"
        told = self.kubectl("get", *named, where, "--ignore-not-found", "--output=name")
        return [line.partition("/")[2] for line in told.splitlines()]

    def say(self, phase, status):
        self.places[phase].say(status)


class PlayedStack:
    """A stack's Cluster, applied as Pulumi's provider does it: under the name that it is told, without force."""

    def __init__(self, played, site, image, phase):
        self.operator, self.namespace, self.databases = played, played.places[f"phase{phase}"].namespace, "awaited"
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
