"""A stand-in for the cluster's name server: one set of addresses for whatever is asked."""

import contextlib
import socket
import struct
import threading

ADDRESS_OF_IPV4 = 1


class Names:
    """Answers on loopback with `addresses`, which may change at any time and are to be kept for a second."""

    def __init__(self, *addresses: str):
        self.addresses = addresses
        self.asked = 0
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def port(self) -> int:
        return self._socket.getsockname()[1]

    def end(self):
        self._socket.close()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                query, asker = self._socket.recvfrom(512)
                self._socket.sendto(self._answer(query), asker)
                self.asked += 1

    def _answer(self, query: bytes) -> bytes:
        end = 12
        while query[end]:
            end += query[end] + 1
        (kind,) = struct.unpack(">H", query[end + 1 : end + 3])
        found = self.addresses if kind == ADDRESS_OF_IPV4 else ()
        head = query[:2] + struct.pack(">HHHHH", 0x8580, 1, len(found), 0, 0)
        shape = struct.pack(">HHHIH", 0xC00C, ADDRESS_OF_IPV4, 1, 1, 4)
        return head + query[12 : end + 5] + b"".join(shape + socket.inet_aton(each) for each in found)
