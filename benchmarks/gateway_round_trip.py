"""What the gateway adds to one call: TLS, a tenant's key, limits, the way to a model; the real Envoy on loopback.

Run: .venv/bin/python benchmarks/gateway_round_trip.py [CALLS]
Bound: at most 1 ms at the median (targets.agent_round_trip_ms; two switches add 0.02). The same calls are made straight
to a server that answers at once, and through the gateway, in turns on one connection each; the difference is told. The
best of some runs counts: others slow a run, nothing speeds it up.
"""

import asyncio
import json
import multiprocessing
import re
import socket
import ssl
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests/components/gateway")]

from loopback import HOST, certify, free_port  # noqa: E402 - the tests' own certificate

from components.gateway.envoy import certificate_configuration, envoy_configuration  # noqa: E402
from components.gateway.objects import command  # noqa: E402
from components.gateway.place import Place  # noqa: E402
from rackwright.site.gateway import Gateway  # noqa: E402
from rackwright.site.tenants import Limits, Tenant  # noqa: E402

ENVOY = Path(sysconfig.get_paths()["purelib"]) / "envoy" / "_bin" / "envoy"
KEY = "a-key-of-agents-" + "x" * 24
BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x" * 2000}]}).encode()
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
RUNS, CALLS = 5, 2000
BOUND_MS = 1.0


class Engine(asyncio.Protocol):
    """Answers at once, once a body is whole."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what is answered over."""
        self.transport, self.seen = transport, b""

    def data_received(self, data: bytes) -> None:
        """Answer a whole request."""
        self.seen += data
        head, found, body = self.seen.partition(b"\r\n\r\n")
        if found and (head.startswith(b"GET ") or len(body) >= len(BODY)):  # the proxy asks whether it is well
            self.seen = b""
            self.transport.write(ANSWER)


def serve(port: int) -> None:
    """A server in a process of its own."""

    async def forever() -> None:
        server = await asyncio.get_running_loop().create_server(Engine, "127.0.0.1", port)
        await server.serve_forever()

    asyncio.run(forever())


def connect(port: int, authority: Path | None) -> socket.socket:
    """One connection that is kept, with TLS where there is an authority."""
    plain = socket.create_connection(("127.0.0.1", port))
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if authority is None:
        return plain
    return ssl.create_default_context(cafile=authority).wrap_socket(plain, server_hostname=HOST)


def call(connection: socket.socket) -> tuple[float, bool]:
    """Milliseconds of one call, and whether it was answered well."""
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: {HOST}\r\nauthorization: Bearer {KEY}\r\n"
    head += f"content-type: application/json\r\ncontent-length: {len(BODY)}\r\n\r\n"
    begun = time.perf_counter()
    connection.sendall(head.encode() + BODY)
    said = b""
    while not is_whole(said):
        part = connection.recv(65536)
        assert part, said
        said += part
    return (time.perf_counter() - begun) * 1000, said.startswith(b"HTTP/1.1 200")


def is_whole(said: bytes) -> bool:
    """Whether an answer is there to its last byte."""
    head, found, body = said.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head)
    return bool(found) and length is not None and len(body) >= int(length[1])


def wait(port: int, proxy: subprocess.Popen[bytes]) -> None:
    """Until the proxy is ready."""
    while True:
        assert proxy.poll() is None, "Envoy ended"
        try:
            if urllib.request.urlopen(f"http://127.0.0.1:{port}/ready").status == 200:
                return
        except OSError:
            time.sleep(0.05)


def main(calls: int) -> int:
    """Measure, tell, and say whether the bound holds."""
    engine, place_of = free_port(), tempfile.TemporaryDirectory()
    folder = Path(place_of.name)
    certify(folder)
    place = Place("127.0.0.1", free_port(), free_port(), free_port(), str(folder), str(folder))
    limits = Limits(requests_per_minute=1_000_000, concurrent_requests=1000)
    tenant = Tenant(name="agents", key="agents_key", priority="agents", limits=limits)
    gateway = Gateway(host=HOST, replicas=1)
    rendered = envoy_configuration(gateway, [tenant], {"agents_key": KEY}, {"m": f"127.0.0.1:{engine}"}, place)
    (folder / "envoy.json").write_text(json.dumps(rendered))
    (folder / "certificate.json").write_text(json.dumps(certificate_configuration(place)))
    server = multiprocessing.Process(target=serve, args=(engine,), daemon=True)
    server.start()
    proxy = subprocess.Popen([ENVOY, *command(place)[1:]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait(place.metrics_port, proxy)
        straight, through = connect(engine, None), connect(place.https_port, folder / "tls.crt")
        while not call(through)[1]:  # until the proxy has looked up the engine's name
            time.sleep(0.1)
        best = min(measured(straight, through, calls) for _ in range(RUNS))
    finally:
        proxy.kill()
        proxy.wait()
        server.kill()
        place_of.cleanup()
    print(f"the gateway adds {best[0]:.3f} ms at the median, {best[1]:.3f} ms at P95; straight {best[2]:.3f} ms")
    print(f"bound: {BOUND_MS} ms at the median: {'held' if best[0] <= BOUND_MS else 'BROKEN'}")
    return best[0] > BOUND_MS


def measured(straight: socket.socket, through: socket.socket, calls: int) -> tuple[float, float, float]:
    """What it adds at the median and at P95, and the straight call's median; in ms."""
    pairs = [(call(straight), call(through)) for _ in range(calls)]
    assert all(well for pair in pairs for _, well in pair), "a call was refused"
    quick, slow = (sorted(took for took, _ in each) for each in zip(*pairs, strict=True))
    at = int(calls * 0.95)
    median = statistics.median(quick)
    return statistics.median(slow) - median, slow[at] - quick[at], median


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else CALLS))
