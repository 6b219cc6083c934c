"""The API's port: answers what the real one answers to who asks whether it is there, and to a node that joins."""

import base64
import binascii
import hmac
import json
import os
import socket
import ssl
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from rackwright.guests.stand_ins.k3s.program import state
from rackwright.guests.stand_ins.k3s.program.certificates import FOLDER as TLS
from rackwright.guests.stand_ins.k3s.program.place import WHO, Trouble, at

JOIN = "/stand-in/node"


class Answers(BaseHTTPRequestHandler):
    """Open: /ping and /cacerts. Else a client's certificate, or the token for a node that joins."""

    server_version = "rackwright-stand-in-for-k3s"

    def do_GET(self) -> None:
        """Say that it is there."""
        if self.path == "/ping":
            self._say(200, "pong")
        elif self.path == "/cacerts":
            self._say(200, at(f"{TLS}/server-ca.crt").read_text(encoding="utf-8"))
        elif not self._has_certificate():
            self._say(401, "Unauthorized")
        else:
            self._say(200 if self.path in {"/readyz", "/livez", "/healthz"} else 404, f"ok ({WHO})")

    def do_POST(self) -> None:
        """Take a node in."""
        length = int(self.headers.get("Content-Length", "0"))
        body = self.rfile.read(length)
        if self.path != JOIN or not self._has_token():
            self._say(401, "Unauthorized")
            return
        state.keep_node(json.loads(body))
        self._say(200, f"joined ({WHO})")

    def log_message(self, *_: Any) -> None:
        """The journal is not told of every question."""

    def _has_certificate(self) -> bool:
        return isinstance(self.connection, ssl.SSLSocket) and bool(self.connection.getpeercert())

    def _has_token(self) -> bool:
        try:
            given = base64.b64decode(self.headers.get("Authorization", "").removeprefix("Basic ")).decode()
        except (binascii.Error, UnicodeDecodeError):
            return False
        wished = at(state.TOKEN).read_text(encoding="utf-8").strip().rpartition(":")[2]
        return hmac.compare_digest(given.rpartition(":")[2], wished)

    def _say(self, code: int, text: str) -> None:
        body = text.encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def listening(port: int) -> ThreadingHTTPServer:
    """The open port, not served yet; Trouble where it is taken."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(at(f"{TLS}/serving-kube-apiserver.crt"), at(f"{TLS}/serving-kube-apiserver.key"))
    context.load_verify_locations(at(f"{TLS}/client-ca.crt"))
    context.verify_mode = ssl.CERT_OPTIONAL
    try:
        server = ThreadingHTTPServer(("0.0.0.0", port), Answers)  # noqa: S104 - as the real one does
    except OSError as error:
        raise Trouble(f"listen tcp :{port}: bind: {error.strerror}") from None
    server.socket = context.wrap_socket(server.socket, server_side=True)
    return server


def join(address: str, token: str, mine: dict[str, Any]) -> None:
    """Tell the server of this node; Trouble where it does not answer or does not know the token."""
    try:
        blind = ssl._create_unverified_context()  # noqa: S323 - the authority is what is asked for
        with urllib.request.urlopen(f"{address}/cacerts", context=blind, timeout=10) as answer:  # noqa: S310
            authority = answer.read().decode()
        request = urllib.request.Request(f"{address}{JOIN}", data=json.dumps(mine).encode(), method="POST")  # noqa: S310
        request.add_header("Authorization", "Basic " + base64.b64encode(f"node:{token}".encode()).decode())
        trusting = ssl.create_default_context(cadata=authority)
        urllib.request.urlopen(request, context=trusting, timeout=10).close()  # noqa: S310
    except OSError as error:
        raise Trouble(f"failed to retrieve configuration from server {address}: {error}") from None


def ready() -> None:
    """Tell systemd that it has started."""
    path = os.environ.get("NOTIFY_SOCKET")
    if not path:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.sendto(b"READY=1", f"\0{path[1:]}" if path.startswith("@") else path)
