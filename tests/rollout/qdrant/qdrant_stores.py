"""Two stores, what lies in them, and applications that write and remember what they were told."""

import json
import os
import random
import shutil
import subprocess
import threading
import time
import urllib.error
import urllib.request
from contextlib import suppress
from uuid import UUID

from waiting import until

from rackwright.errors import Refusal
from rackwright.rollout.qdrant.acts import Copy, CutOver
from rackwright.rollout.qdrant.kept import held
from rackwright.rollout.qdrant.shape import Spread
from rackwright.rollout.qdrant.store import Store, path
from rackwright.rollout.qdrant.switch import application_key

KEY = "the-key-of-the-store"
ONE, THREE = Spread(6, 1), Spread(6, 2)
DOCUMENTS = {"vectors": {"size": 4, "distance": "Cosine"}}
IMAGES = {
    "vectors": {
        "small": {"size": 3, "distance": "Dot"},
        "far": {"size": 2, "distance": "Euclid"},
        "many": {"size": 2, "distance": "Cosine", "multivector_config": {"comparator": "max_sim"}},
    },
    "sparse_vectors": {"words": {"modifier": "idf"}},
}


class RealStore:
    """A real Qdrant of this machine."""

    def __init__(self, program, folder, port):
        self.folder, self.address, self.key = folder, f"http://127.0.0.1:{port}", KEY
        settings = {
            "SERVICE__HTTP_PORT": port, "SERVICE__GRPC_PORT": port + 1, "SERVICE__API_KEY": KEY,
            "SERVICE__JWT_RBAC": "true", "STORAGE__STORAGE_PATH": folder, "STORAGE__SNAPSHOTS_PATH": folder,
            "SERVICE__HOST": "127.0.0.1", "TELEMETRY_DISABLED": "true",
        }  # fmt: skip
        environment = os.environ | {f"QDRANT__{name}": str(value) for name, value in settings.items()}
        self.process = subprocess.Popen([program], env=environment, cwd=folder, stdout=subprocess.DEVNULL)

    def end(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder)


def answers(store):
    with suppress(Refusal):
        return bool(store.ask("GET", "/"))
    return False


class Ticked(Store):
    """May be killed before and after each request."""

    ticks = staticmethod(lambda: None)

    def send(self, *words):
        self.ticks()
        answer = super().send(*words)
        self.ticks()
        return answer


def stores(both):
    return [Ticked(name, [each.address], KEY) for name, each in zip(("phase-1", "phase-2"), both, strict=True)]


def copy(both):
    return Copy(*stores(both), THREE, lambda _: None)


def cut_over(both):
    return CutOver(*stores(both), THREE, ONE, lambda _: None)


def names(chance, number):
    return [str(UUID(int=chance.getrandbits(128))) for _ in range(number)]


def document(chance, name):
    payload = {
        "city": chance.choice(["Bern", "Köln", "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16")])
    }
    payload |= {"deep": {"list": [1, 2.5, None, {"id": name}]}, "big": 2**53 + name}
    return {"id": name, "vector": [chance.gauss(0, 3) for _ in range(4)], "payload": payload}


def image(chance, name):
    vector = {"small": [chance.random() for _ in range(3)], "far": [chance.random(), 9.0]}
    vector |= {"many": [[chance.random(), 1.0], [0.5, chance.random()]]}
    vector |= {"words": {"indices": [1, 7], "values": [0.5, chance.random()]}}
    if chance.random() < 0.3:
        del vector["far"]
    return {"id": name, "vector": vector}


def write(store, collection, points):
    store.ask("PUT", path(collection, "points") + "?wait=true", {"points": points})


def everything(store):
    """All points of all collections, as a client sees them."""
    found = {}
    for name in held(store):
        body = {"limit": 100_000, "with_vector": True}
        for point in store.result("POST", path(name, "points", "scroll"), body)["points"]:
            found[name, point["id"]] = (point["payload"], point["vector"])
    return found


class Writer:
    """An application with its own key: it writes, changes and removes points, and never forgets what it was told."""

    def __init__(self, both, number):
        self.both, self.number, self.told, self.unsure = both, number, {}, set()
        self.at, self.refused = [], 0
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def end(self):
        self._ends.set()
        self._thread.join(60)
        assert not self._thread.is_alive()

    def _write(self):
        chance, turns = random.Random(self.number), 0
        while not self._ends.is_set():
            turns += 1
            name = 1000 * (self.number + 1) + chance.randrange(40)
            removes = chance.random() < 0.3
            body = (
                {"points": [name]}
                if removes
                else {"points": [{"id": name, "vector": [0, 0, 0, 0], "payload": {"turn": turns}}]}
            )
            method, where = ("POST", "points/delete") if removes else ("PUT", "points")
            wait = chance.choice(["true", "false"])
            for each in self.both:
                answer = self._ask(method, f"{each.address}/collections/library/{where}?wait={wait}", body)
                if answer is None:  # nobody knows
                    self.unsure.add(name)
                if answer:
                    self.told[name] = None if removes else turns
                    self.unsure.discard(name)
                    self.at.append(time.monotonic())
                    break
            else:
                self.refused += 1
            time.sleep(0.02)

    def _ask(self, method, address, body):
        headers = {"api-key": application_key(KEY), "content-type": "application/json"}
        request = urllib.request.Request(address, json.dumps(body).encode(), headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30):
                return True
        except urllib.error.HTTPError as error:
            return False if error.code in (401, 403, 404) else None
        except OSError:
            return None


def goes_on(writers):
    before = [len(writer.at) for writer in writers]
    until(lambda: all(len(each.at) > n + 5 for each, n in zip(writers, before, strict=True)), "writes do not go on")


def lost(writers, store):
    """What applications were told, and is otherwise in a store. They stand still meanwhile."""
    for writer in writers:
        writer.end()
    old = everything(store)
    seen = {name: payload.get("turn") for (collection, name), (payload, _) in old.items() if collection == "documents"}
    told = {name: turn for each in writers for name, turn in each.told.items() if name not in each.unsure}
    return {name: (turn, seen.get(name)) for name, turn in told.items() if seen.get(name) != turn}
