"""A rehearsal's API asked from this process: who looks several times a second starts no program for it."""

import base64
import http.client
import json
import os
import ssl
import tempfile
import threading
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from rackwright.errors import Refusal

Object = dict[str, Any]
ANSWER_S = 30
APPLY, MERGE = "application/apply-patch+yaml", "application/merge-patch+json"


class Silent(Refusal):
    """Nobody answered; a moment later somebody may."""


class Api:
    """One cluster by its kubeconfig, as its administrator; each thread and each process keeps a connection."""

    def __init__(self, kubeconfig: Path) -> None:
        self.kubeconfig = kubeconfig
        self._kept = threading.local()

    def get(self, path: str) -> Object | None:
        """What is there; None where there is nothing, nor a kind of that name."""
        return self._ask("GET", path)

    def merge(self, path: str, change: Object) -> None:
        """Change some of it."""
        self._ask("PATCH", path, change, MERGE)

    def apply(self, path: str, wanted: Object) -> None:
        """Make it so."""
        self._ask("PATCH", f"{path}?fieldManager=played-operator&force=true", wanted, APPLY)

    def _ask(self, method: str, path: str, body: Object | None = None, kind: str = "") -> Object | None:
        connection = self._connection
        stood = connection.sock is not None
        try:
            headers = {"content-type": kind} if kind else {}
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            answer = connection.getresponse()
            said = answer.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            if stood and not isinstance(error, TimeoutError):  # the server ended it since it was last used
                return self._ask(method, path, body, kind)
            what = f"The rehearsal's API does not answer to {method} {path} ({type(error).__name__})."
            raise Silent(what, "See that its programs are up.") from None
        if answer.status == http.client.NOT_FOUND:
            return None
        if answer.status >= http.client.BAD_REQUEST:
            words = " ".join(said.decode(errors="replace").split())[:300]
            raise Refusal(f"The rehearsal's API says no to {method} {path}: {answer.status}, {words}", "See why.")
        found: Object = json.loads(said)
        return found

    @property
    def _connection(self) -> http.client.HTTPSConnection:
        """The thread's own; whoever was forked makes one of its own, since two would read each other's answers."""
        if getattr(self._kept, "process", None) != os.getpid():
            host, port = self._reached
            self._kept.connection = http.client.HTTPSConnection(host, port, timeout=ANSWER_S, context=self._context)
            self._kept.process = os.getpid()
        found: http.client.HTTPSConnection = self._kept.connection
        return found

    @cached_property
    def _told(self) -> Object:
        found: Object = yaml.safe_load(self.kubeconfig.read_text())
        return {"cluster": found["clusters"][0]["cluster"], "user": found["users"][0]["user"]}

    @cached_property
    def _reached(self) -> tuple[str, int]:
        parts = urlsplit(self._told["cluster"]["server"])
        return str(parts.hostname), int(parts.port or 443)

    @cached_property
    def _context(self) -> ssl.SSLContext:
        authority = base64.b64decode(self._told["cluster"]["certificate-authority-data"]).decode()
        context = ssl.create_default_context(cadata=authority)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "keys")
            file.touch(mode=0o600)
            keys = ("client-certificate-data", "client-key-data")
            file.write_bytes(b"\n".join(base64.b64decode(self._told["user"][key]) for key in keys))
            context.load_cert_chain(file)
        return context
