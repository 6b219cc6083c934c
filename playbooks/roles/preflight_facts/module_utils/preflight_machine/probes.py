"""Measurements that leave nothing behind: time, doors, addresses, and how long a disk takes to keep its word."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import ssl
import struct
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .reading import run

NTP_EPOCH = 2_208_988_800  # seconds from 1900 to 1970
BLOCK, WRITES, PATIENCE = 2_300, 400, 8.0  # bytes and number of etcd's usual records; seconds at most
FIO = ["--name=etcd", "--rw=write", "--ioengine=sync", "--fdatasync=1", f"--bs={BLOCK}", f"--size={BLOCK * WRITES}"]


def time_offset(server: str) -> dict[str, Any]:
    """By how many seconds this machine is ahead of a time server, asked once by SNTP."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(server, 123, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind, protocol) as link:
            link.settimeout(3)
            sent = time.time()
            link.sendto(b"\x23" + bytes(47), address)
            packet = link.recv(512)
            received = time.time()
        seconds, fraction = struct.unpack("!II", packet[40:48])
        if packet[1] == 0 or not seconds:
            return {"offset_s": None, "error": "it answers, and has no time itself"}
    except (OSError, struct.error, IndexError) as error:
        return {"offset_s": None, "error": str(getattr(error, "strerror", None) or error or "no answer")}
    true = seconds - NTP_EPOCH + fraction / 2**32
    return {"offset_s": round((sent + received) / 2 - true, 6), "error": ""}


def knock(address: str, port: int) -> str:
    """What a TCP port answers: open, refused (nothing listens, nothing stands between) or why not."""
    try:
        with socket.create_connection((address, port), timeout=2):
            return "open"
    except ConnectionRefusedError:
        return "refused"
    except OSError as error:
        words = error.strerror or str(error)
        return "silent" if "timed out" in words else words


def fetchable(url: str, proxies: dict[str, str] | None = None) -> str:
    """Why a web address cannot be read; empty where it can, or where its server at least answers."""
    try:
        request = urllib.request.Request(url, method="HEAD", headers={"User-Agent": "preflight"})  # noqa: S310 - the site's
        with urllib.request.build_opener(urllib.request.ProxyHandler(proxies)).open(request, timeout=6):
            return ""
    except urllib.error.HTTPError as error:
        return "" if error.code in (401, 403, 405) else f"the server says {error.code} {error.reason}"
    except ssl.SSLError as error:
        return f"its certificate is refused ({error.reason})"
    except (OSError, ValueError, http.client.HTTPException) as error:
        return str(getattr(error, "reason", None) or error or type(error).__name__)


def flush_time(folder: str) -> dict[str, Any]:
    """P99 in ms of a small write that is kept (fdatasync), where etcd's log will lie.

    The file has no name (O_TMPFILE), so that not even the folder's time changes, and is gone when it is closed.
    """
    place = _existing(Path(folder))
    try:
        with _nameless(place) as file:
            os.posix_fallocate(file, 0, BLOCK * WRITES)  # as etcd does; and fio would unlink a file that is too small
            measured = _by_fio(file)
            if measured is None:
                measured = ("own probe", _by_hand(file))
    except OSError as error:
        return {"folder": str(place), "tool": "", "p99_ms": None, "error": error.strerror or str(error)}
    return {"folder": str(place), "tool": measured[0], "p99_ms": round(measured[1], 3), "error": ""}


def _existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there and will hold it."""
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    return folder


@contextlib.contextmanager
def _nameless(folder: Path) -> Iterator[int]:
    try:
        file = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
    except OSError:  # a file system without such files: one with a name, and the folder's times put back
        before = folder.stat()
        file, name = tempfile.mkstemp(prefix=".preflight-", dir=folder)
        os.unlink(name)  # noqa: PTH108 - it is a name, not a path of ours
        os.utime(folder, ns=(before.st_atime_ns, before.st_mtime_ns))
    try:
        yield file
    finally:
        os.close(file)


def _by_fio(file: int) -> tuple[str, float] | None:
    """Where fio is installed; nothing where it is not, or says something else."""
    said = run(["fio", f"--filename=/proc/self/fd/{file}", "--output-format=json", *FIO], 30, (file,))
    try:
        percentiles = json.loads(said["out"])["jobs"][0]["sync"]["lat_ns"]["percentile"]
        return "fio", float(percentiles["99.000000"]) / 1e6
    except (ValueError, KeyError, IndexError, TypeError):
        return None


def _by_hand(file: int) -> float:
    block, ends = bytes(BLOCK), time.monotonic() + PATIENCE
    times: list[float] = []
    while len(times) < WRITES and (time.monotonic() < ends or len(times) < 10):
        os.write(file, block)
        started = time.monotonic()
        os.fdatasync(file)
        times.append(time.monotonic() - started)
    return sorted(times)[int(len(times) * 0.99)] * 1000
