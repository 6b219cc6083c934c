"""The time and the names that guests ask for."""

import struct
from ipaddress import IPv4Address
from pathlib import Path

import pytest

from rackwright.guests import services
from rackwright.guests.cabling import cabling
from rackwright.site.site import Site

NAMES = {"gpu-01": IPv4Address("10.30.0.11"), "time.lab.internal": IPv4Address("10.30.0.1")}
NOW = 1_795_993_524.25


def asked(name, kind=services.ADDRESS, flags=0x0100):
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\0"
    return services.HEADER.pack(7, flags, 1, 0, 0, 0) + labels + struct.pack("!HH", kind, 1)


def code(answer):
    return struct.unpack_from("!HH", answer)[1] & 15


class TestTime:
    def test_it_is_this_machines(self):
        question = services.NTP.pack(4 << 3 | 3, 0, 6, 0, 0, 0, bytes(4), 0, 0, 0, 12345)
        first, stratum, _, _, _, _, _, _, origin, _, said = services.NTP.unpack(services.answer_time(question, NOW))
        assert (first & 7, first >> 3, stratum, origin) == (4, 4, 2, 12345)
        assert said / 2**32 - services.SINCE_1900 == pytest.approx(NOW)

    @pytest.mark.parametrize("question", [b"", bytes(47), bytes(48)])
    def test_what_is_no_question_gets_no_answer(self, question):
        assert services.answer_time(question, NOW) is None


class TestNames:
    def test_a_host_has_its_address(self):
        answer = services.answer_name(asked("GPU-01"), NAMES)
        assert code(answer) == 0
        assert answer.endswith(b"\x00\x04\x0a\x1e\x00\x0b")

    def test_an_address_has_its_host(self):
        answer = services.answer_name(asked("11.0.30.10.in-addr.arpa", services.POINTER), NAMES)
        assert answer.endswith(b"\x06gpu-01\x00")

    def test_a_name_without_such_a_record_is_none_the_less_a_name(self):
        answer = services.answer_name(asked("gpu-01", kind=28), NAMES)
        assert (code(answer), services.HEADER.unpack_from(answer)[3]) == (0, 0)

    def test_a_name_of_elsewhere_is_none(self):
        assert code(services.answer_name(asked("packages.example.org"), NAMES)) == services.NO_SUCH_NAME

    @pytest.mark.parametrize("length", range(12, 24))
    def test_a_question_that_is_cut_short_is_not_understood(self, length):
        assert code(services.answer_name(asked("gpu-01")[:length], NAMES)) == services.NOT_UNDERSTOOD

    @pytest.mark.parametrize("question", [b"", b"\0" * 11, asked("gpu-01", flags=0x8180)])
    def test_what_is_no_question_gets_no_answer(self, question):
        assert services.answer_name(question, NAMES) is None


def test_the_names_are_those_of_the_site():
    site = Site.load(Path(__file__).resolve().parents[2] / "inventory" / "lab")
    networks = site.networks.model_copy(update={"time_servers": ("time.lab.internal",)})
    names = cabling(site.model_copy(update={"networks": networks}), site.hosts).names
    assert names["gpu-01"] == IPv4Address("10.30.0.11")
    assert names["time.lab.internal"] == IPv4Address("10.30.0.1")
