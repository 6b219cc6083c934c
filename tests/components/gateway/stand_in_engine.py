"""A stand-in for an engine: as much of the OpenAI API as the gateway's tests need, and a memory of what it saw."""

import contextlib
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Engine:
    """One server on loopback; `seen` are the headers of each request, `gate` holds answers back while it is clear.

    `refuses` is the status that it answers with, as a door does whose engine is gone: to all but who asks how it is.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = 0):
        self.seen: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.refuses: int | None = None
        self.gate = threading.Event()
        self.gate.set()
        self.connections: list[socket.socket] = []
        engine = self

        class Handler(_Handler):
            server_engine = engine

        self._server = ThreadingHTTPServer((host, port), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        return self._server.server_address[1]

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def end(self):
        """As a killed process ends: connections that are open are gone as well."""
        self.gate.set()
        self._server.shutdown()
        self._server.server_close()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_engine: Engine

    def setup(self):
        super().setup()
        self.server_engine.connections.append(self.connection)

    def log_message(self, *arguments):
        """Tests speak for themselves."""

    def do_GET(self):
        refused = self.server_engine.refuses if self.path != "/health" else None
        self._answer({"path": self.path}, refused or 200)

    def do_POST(self):
        body = json.loads(self._read())
        self.server_engine.seen.append({name.lower(): value for name, value in self.headers.items()})
        self.server_engine.paths.append(self.path)
        if self.server_engine.refuses:
            self._answer({"error": "gone"}, self.server_engine.refuses)
        elif "says" in body:  # what the test puts into its mouth: a whole answer, or the events of a stream
            self._say(body["says"], body.get("every_s", 0))
        elif body.get("stream"):
            self._stream(body["stream"], body.get("every_s", 0.1))
        else:
            self.server_engine.gate.wait()
            time.sleep(body.get("after_s", 0))
            self._answer({"path": self.path, "length": len(json.dumps(body))}, body.get("status", 200))

    def _read(self) -> bytes:
        """The body; in chunks where a picker has seen it on its way."""
        if "content-length" in self.headers:
            return self.rfile.read(int(self.headers["content-length"]))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _answer(self, value, status=200):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def _say(self, says, every_s):
        if isinstance(says, list):
            self._events([json.dumps(each) for each in says], every_s)
        else:
            self._answer(says)

    def _stream(self, count, every_s):
        self._events(range(count), every_s)

    def _events(self, events, every_s):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in events:
            data = f"data: {event}\n\n".encode()
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()
            time.sleep(every_s)
        self.wfile.write(b"0\r\n\r\n")
