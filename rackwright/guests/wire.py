"""The switch as a process in the rack's network namespace: guests plug in by TCP, this machine by a tap a network.

`python -m rackwright.guests.wire FILE` reads the cabling from FILE, says "ready" and works until its input ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import selectors
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any, Protocol

from rackwright.guests import services
from rackwright.guests.switch import Out, Switch, SwitchPort

READY = "ready"
LENGTH = struct.Struct("!I")  # before each frame, as QEMU's stream sockets have it
LARGEST = 65_600
MOST_WAITING = 8_000_000  # bytes for a guest that does not read; a switch drops what does not fit either
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
TICK = 0.5
SOON = 0.005


class Plug(Protocol):
    """What is behind a port."""

    def frames(self) -> list[bytes]:
        """Frames that have come in; EOFError where the plug was pulled."""

    def send(self, frame: bytes) -> None:
        """Hand a frame on."""


class Tap:
    """The port of this machine itself in a network."""

    def __init__(self, name: str) -> None:
        self.descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self.descriptor, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI))

    def fileno(self) -> int:
        """For select."""
        return self.descriptor

    def frames(self) -> list[bytes]:
        """One frame; the system has queues of its own."""
        try:
            return [os.read(self.descriptor, LARGEST)]
        except BlockingIOError:
            return []

    def send(self, frame: bytes) -> None:
        """Hand a frame to this machine, unless it does not read."""
        with contextlib.suppress(BlockingIOError):
            os.write(self.descriptor, frame)


class Cable:
    """A guest's port, as a stream of frames with their lengths."""

    def __init__(self, stream: socket.socket) -> None:
        stream.setblocking(False)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream = stream
        self.waiting = bytearray()
        self._half = bytearray()

    def fileno(self) -> int:
        """For select."""
        return self.stream.fileno()

    def frames(self) -> list[bytes]:
        """Every frame that is whole by now."""
        try:
            data = self.stream.recv(1 << 18)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            raise EOFError
        self._half += data
        found = []
        while len(self._half) >= LENGTH.size:
            (length,) = LENGTH.unpack_from(self._half)
            if length > LARGEST:
                raise EOFError
            if len(self._half) < LENGTH.size + length:
                break
            found.append(bytes(self._half[LENGTH.size : LENGTH.size + length]))
            del self._half[: LENGTH.size + length]
        return found

    def send(self, frame: bytes) -> None:
        """Hand a frame to the guest now or later."""
        if len(self.waiting) < MOST_WAITING:
            self.waiting += LENGTH.pack(len(frame)) + frame
            self.flush()

    def flush(self) -> None:
        """Write what waits, as far as the guest takes it; who has gone is noticed where we read."""
        with contextlib.suppress(BlockingIOError, ConnectionError):
            while self.waiting:
                del self.waiting[: self.stream.send(self.waiting)]


class Wire:
    """Sockets and taps around a switch."""

    def __init__(self, switch: Switch) -> None:
        self.switch = switch
        self.selector = selectors.DefaultSelector()
        self.plugs: dict[str, Tap | Cable] = {}

    def lay(self, port: str, number: int) -> None:
        """Listen for the guest at a port."""
        listener = socket.create_server(("127.0.0.1", number), backlog=4)
        listener.setblocking(False)
        self.selector.register(listener, selectors.EVENT_READ, lambda: self._plug_in(port, listener))

    def serve(self, address: str, port: int, answer: Callable[[bytes], bytes | None]) -> None:
        """Answer questions by UDP."""
        asked = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        asked.bind((address, port))
        asked.setblocking(False)
        self.selector.register(asked, selectors.EVENT_READ, lambda: _answered(asked, answer))

    def plug_in(self, port: str, plug: Tap | Cable) -> None:
        """Something is at a port from now on."""
        self.plugs[port] = plug
        self.selector.register(plug, selectors.EVENT_READ, lambda: self._read(port, plug))

    def run(self, *, stays: bool) -> None:
        """Work until the input ends, or for ever."""
        ended: list[bool] = []
        if not stays:
            self.selector.register(sys.stdin.buffer, selectors.EVENT_READ, lambda: ended.append(not os.read(0, 1)))
        due = time.monotonic() + TICK
        while not any(ended):
            late = [plug for plug in self.plugs.values() if isinstance(plug, Cable) and plug.waiting]
            for key, _ in self.selector.select(SOON if late else max(0.0, due - time.monotonic())):
                key.data()
            for plug in late:
                plug.flush()
            if time.monotonic() >= due:
                self._send(self.switch.tick(time.monotonic()))
                due = time.monotonic() + TICK

    def _plug_in(self, port: str, listener: socket.socket) -> None:
        stream, _ = listener.accept()
        if port in self.plugs:
            self._pull(port)
        self.plug_in(port, Cable(stream))

    def _pull(self, port: str) -> None:
        plug = self.plugs.pop(port)
        self.selector.unregister(plug)
        if isinstance(plug, Cable):
            plug.stream.close()
        self.switch.unplug(port)

    def _read(self, port: str, plug: Tap | Cable) -> None:
        try:
            frames = plug.frames()
        except EOFError:
            self._pull(port)
            return
        for frame in frames:
            self._send(self.switch.receive(port, frame, time.monotonic()))

    def _send(self, out: list[Out]) -> None:
        for port, frame in out:
            if port in self.plugs:
                self.plugs[port].send(frame)


def _answered(asked: socket.socket, answer: Callable[[bytes], bytes | None]) -> None:
    with contextlib.suppress(BlockingIOError):
        question, asker = asked.recvfrom(LARGEST)
        said = answer(question)
        if said is not None:
            asked.sendto(said, asker)


def _serve(wire: Wire, plan: dict[str, Any]) -> None:
    """Be every name and time server at this machine's addresses."""
    names = {name: IPv4Address(address) for name, address in plan["names"].items()}
    for tap in plan["taps"]:
        for address in (tap["address"].partition("/")[0], *tap["others"]):
            wire.serve(address, services.NAME_PORT, lambda question: services.answer_name(question, names))
            wire.serve(address, services.TIME_PORT, lambda question: services.answer_time(question, time.time()))


def _set_up(plan: dict[str, Any]) -> Wire:
    ports = [
        SwitchPort(
            each["name"], each["number"], each["untagged"], {int(k): v for k, v in each["tagged"].items()}, each["bond"]
        )
        for each in plan["ports"]
    ]
    taps = {f"tap-{tap['network']}": tap for tap in plan["taps"]}
    own = [SwitchPort(name, 0, untagged=tap["network"]) for name, tap in taps.items()]
    wire = Wire(Switch([*ports, *own], {tap["network"]: tap["mtu"] for tap in plan["taps"]}))
    _ip("link set lo up")
    for name, tap in taps.items():
        wire.plug_in(name, Tap(name))
        _ip(f"link set {name} mtu {tap['mtu']} up", f"address add {tap['address']} dev {name}")
        _ip(*(f"address add {address}/32 dev {name}" for address in tap["others"]))
    _serve(wire, plan)
    for port in ports:
        wire.lay(port.name, plan["sockets"][port.name])
    return wire


def _ip(*lines: str) -> None:
    subprocess.run(["ip", "-batch", "-"], input="\n".join(lines), text=True, check=True)  # noqa: S607 - the system's


def main() -> None:
    """Set the wire up, say so, and work."""
    plan = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    wire = _set_up(plan)
    sys.stdout.write(f"{READY}\n")
    sys.stdout.flush()
    wire.run(stays=plan["stays"])


if __name__ == "__main__":
    main()
