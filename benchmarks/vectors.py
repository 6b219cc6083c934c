"""How fast a pass goes through two collections, and how long collections' writes are refused in the cut-over.

Run: .venv/bin/python benchmarks/vectors.py [POINTS]
Bounds: refused writes at most 10 s there and back, none lost. Stores are stand-ins (stand_in.py of rollout/rehearsal),
and for the pass two processes that hand out ready pages: so the figures are this program's share, without Qdrant's own
and without the network between. A pass over points that nobody wrote to is not needed in a pause at all.
"""

import itertools
import json
import multiprocessing
import random
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), *(str(ROOT / "tests" / each) for each in ("", "rollout", "rollout/qdrant"))]

from qdrant_stores import KEY, THREE, Writer, copy, cut_over, lost, stores, write  # noqa: E402

from rackwright.rollout.qdrant.passes import bring  # noqa: E402
from rackwright.rollout.qdrant.store import Store, path  # noqa: E402
from rackwright.rollout.rehearsal.stand_in import StandIn  # noqa: E402

SIZE = 1024  # numbers of a vector
REFUSED_S = 10.0


def points(number: int, *, reverse: bool) -> list[bytes]:
    """As a store writes them; in the other order of named vectors the letters differ, and the points do not."""
    chance, found = random.Random(1), []
    numbers = [json.dumps([round(chance.random(), 7) for _ in range(SIZE)]) for _ in range(50)]
    for name in range(number):
        vectors = [f'"a":{numbers[name % 50]}', f'"b":[0.5,{name}.0]']
        vector = ",".join(reversed(vectors) if reverse else vectors)
        found.append(f'{{"id":{name},"payload":{{"text":"{name}"}},"vector":{{{vector}}}}}'.encode())
    return found


def serve(pages: list[bytes], told: Any) -> None:
    """Hand out ready pages."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version, disable_nagle_algorithm = "HTTP/1.1", True

        def do_POST(self) -> None:
            """A page."""
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            start = body.get("offset", 0)
            end = start + body["limit"]
            after = end if end < len(pages) else "null"
            text = b'{"result":{"points":[' + b",".join(pages[start:end]) + f'],"next_page_offset":{after}}}}}'.encode()
            self.send_response(200)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *arguments: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told.put(server.server_address[1])
    server.serve_forever()


def passes(number: int, *, same_letters: bool) -> float:
    """Seconds for a million points."""
    told: Any = multiprocessing.Queue()
    ends = []
    both = []
    for reverse in (False, not same_letters):
        process = multiprocessing.Process(target=serve, args=(points(number, reverse=reverse), told), daemon=True)
        process.start()
        ends.append(process)
        both.append(Store("a store", [f"http://127.0.0.1:{told.get()}"], KEY))
    found = bring(both[0], both[1], "documents", lambda _: None)
    for process in ends:
        process.kill()
    assert (found.points, found.changes) == (number, 0)
    return found.took_s / number * 1e6


def cut_overs(rounds: int) -> tuple[list[float], int]:
    """Seconds of refused writes, by what applications saw; and points that were lost."""
    both = [StandIn(), StandIn()]
    old, _ = stores(both)
    old.ask(
        "PUT", path("documents"), {"vectors": {"size": 4, "distance": "Cosine"}, "shard_number": THREE.shard_number}
    )
    alias = {"create_alias": {"alias_name": "library", "collection_name": "documents"}}
    old.ask("POST", "/collections/aliases", {"actions": [alias]})
    write(old, "documents", [{"id": each, "vector": [1, 2, 3, each]} for each in range(1000)])
    copy(both).do()
    writers, pauses = [Writer(both, number) for number in range(3)], []
    for _ in range(rounds):
        act = cut_over(both)
        for move in (act.do, act.undo):
            begun = [len(writer.at) for writer in writers]
            move()
            while any(len(writer.at) < n + 20 for writer, n in zip(writers, begun, strict=True)):
                time.sleep(0.05)
            for writer, n in zip(writers, begun, strict=True):
                at = writer.at[max(0, n - 1) :]
                pauses.append(max(b - a for a, b in itertools.pairwise(at)))
    missing = lost(writers, old)
    for each in both:
        each.end()
    return pauses, len(missing)


def measure(number: int) -> dict[str, Any]:
    """Everything, beside its bound."""
    pauses, missing = cut_overs(3)
    return {
        "pass_s_for_a_million_same_letters": passes(number, same_letters=True),
        "pass_s_for_a_million_read": passes(number, same_letters=False),
        "refused_s": max(pauses),
        "lost": missing,
        "within": max(pauses) <= REFUSED_S and not missing,
    }


if __name__ == "__main__":
    result = measure(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)
    print(json.dumps({n: v if isinstance(v, bool) else round(v, 3) for n, v in result.items()}, indent=2))
    sys.exit(0 if result["within"] else 1)
