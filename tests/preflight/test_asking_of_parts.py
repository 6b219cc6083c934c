"""The questions asked of pretended parts of a machine."""

import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time

import pytest
from machine_side import MODULE, network, packages, pci, probes, reading, services, system


class TestReading:
    def test_a_command_that_is_not_there_that_hangs_and_that_may_not_run(self, tmp_path):
        assert reading.run(["no-such-command"])["error"] == "no-such-command is not installed"
        assert reading.run(["sleep", "9"], seconds=0.1) == reading.answer(124, error="sleep gave no answer in 0.1 s")
        (tmp_path / "text").write_text("x")
        assert "cannot be run" in reading.run([str(tmp_path / "text")])["error"]

    def test_words_are_cut_and_never_break(self, tmp_path):
        (tmp_path / "raw").write_bytes(b"\xff\0a")
        assert reading.text(tmp_path / "raw") == "\ufffd a"
        assert reading.text(tmp_path) is None
        assert len(reading.run(["seq", "200000"])["out"]) == reading.LARGEST


def config_space(*capabilities):
    """A bridge's configuration space with extended capabilities, each an id and 4 bytes after the header."""
    space = bytearray(4096)
    for number, (identity, body) in enumerate(capabilities):
        offset = 0x100 + number * 0x40
        after = offset + 0x40 if number + 1 < len(capabilities) else 0
        space[offset : offset + 4] = (identity | 1 << 16 | after << 20).to_bytes(4, "little")
        space[offset + 4 : offset + 8] = body
    return bytes(space)


class TestBus:
    @pytest.fixture
    def bus(self, tmp_path, monkeypatch):
        root = tmp_path / "devices" / "pci0000:15"
        gpu = root / "0000:15:01.0" / "0000:17:00.0" / "0000:1b:00.0"
        gpu.mkdir(parents=True)
        for name, word in (("vendor", "0x10de\n"), ("device", "0x2330\n"), ("class", "0x030200\n")):
            (gpu / name).write_text(word)
        for bridge in (gpu.parent, gpu.parent.parent):
            (bridge / "vendor").write_text("0x1000\n")
        bus = tmp_path / "bus"
        bus.mkdir()
        for device in (gpu, gpu.parent, gpu.parent.parent):
            (bus / device.name).symlink_to(device)
        monkeypatch.setattr(pci, "DEVICES", bus)
        return gpu

    def test_gpus_with_their_bridges_and_access_control(self, bus):
        acs = (0x0D, (0x1D005F).to_bytes(4, "little"))  # control 0x001D after capability 0x005F
        (bus.parent / "config").write_bytes(config_space((0x01, bytes(4)), acs))
        (bus.parent.parent / "config").write_bytes(config_space((0x01, bytes(4))))
        found = pci.gpus()
        assert found["devices"] == [
            {
                "address": "0000:1b:00.0",
                "device": "0x2330",
                "class": "0x030200",
                "driver": "",
                "bridges": ["0000:15:01.0", "0000:17:00.0"],
            },
        ]
        assert found["bridges"] == {
            "0000:15:01.0": {"read": True, "control": None},
            "0000:17:00.0": {"read": True, "control": 0x1D},
        }

    def test_what_only_root_may_read_and_what_goes_round_in_circles(self, bus, monkeypatch):
        monkeypatch.setattr(os, "geteuid", lambda: 1000)
        (bus.parent / "config").write_bytes(bytes(64))
        circle = bytearray(config_space((0x01, bytes(4))))
        circle[0x100:0x104] = (0x01 | 0x100 << 20).to_bytes(4, "little")
        (bus.parent.parent / "config").write_bytes(circle)
        found = pci.gpus()["bridges"]
        assert found["0000:17:00.0"] == {"read": False, "control": None}
        assert found["0000:15:01.0"] == {"read": True, "control": None}


def test_rdma_devices(tmp_path, monkeypatch):
    device = tmp_path / "mlx5_0"
    for folder in ("device/net/fabric0", "ports/1/gids", "ports/1/gid_attrs/types"):
        (device / folder).mkdir(parents=True)
    (device / "ports/1/link_layer").write_text("Ethernet\n")
    for index, gid, kind in ((0, "fe80::1", "IB/RoCE v1"), (1, network.ZERO_GID, ""), (3, "0000:ffff", "RoCE v2")):
        (device / f"ports/1/gids/{index}").write_text(f"{gid}\n")
        (device / f"ports/1/gid_attrs/types/{index}").write_text(f"{kind}\n")
    (device / "device/vpd").write_bytes(b"\x82\x10ConnectX-7\x00SMDL=SW_MNG\x78")
    monkeypatch.setattr(network, "RDMA", tmp_path)
    (found,) = network.network()["rdma"]
    assert found["ports"] == ["fabric0"]
    assert found["manages_switches"]
    assert [(gid["index"], gid["type"]) for gid in found["gids"]] == [(0, "IB/RoCE v1"), (3, "RoCE v2")]


class TestProbes:
    def test_doors(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            assert probes.knock("127.0.0.1", port) == "open"
        assert probes.knock("127.0.0.1", port) == "refused"

    def test_the_time_of_a_server_that_is_behind(self, monkeypatch):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
            server.bind(("127.0.0.1", 0))

            def serve():
                _, address = server.recvfrom(512)
                seconds = int(time.time()) - 100 + probes.NTP_EPOCH
                server.sendto(b"\x24\x02" + bytes(38) + struct.pack("!II", seconds, 0), address)

            thread = threading.Thread(target=serve)
            thread.start()
            known = socket.getaddrinfo
            port = server.getsockname()[1]
            monkeypatch.setattr(socket, "getaddrinfo", lambda name, _, **more: known(name, port, **more))
            found = probes.time_offset("127.0.0.1")
            thread.join()
        assert found["error"] == ""
        assert 99 < found["offset_s"] < 102

    def test_a_time_server_that_is_not_there(self):
        assert probes.time_offset("no-such-host.invalid")["error"]

    def test_addresses(self):
        assert "refused" in probes.fetchable("http://127.0.0.1:9/")
        assert probes.fetchable("nonsense")

    def test_a_file_system_without_nameless_files_is_left_as_it_was(self, tmp_path, monkeypatch):
        real = os.open

        def refusing(path, flags, *more, **further):
            if flags & os.O_TMPFILE == os.O_TMPFILE:
                raise OSError(95, "Operation not supported")
            return real(path, flags, *more, **further)

        monkeypatch.setattr(os, "open", refusing)
        before = tmp_path.stat().st_mtime_ns
        assert probes.flush_time(str(tmp_path))["p99_ms"] > 0
        assert tmp_path.stat().st_mtime_ns == before
        assert list(tmp_path.iterdir()) == []

    def test_fio_is_asked_where_it_is(self, tmp_path, monkeypatch):
        words = json.dumps({"jobs": [{"sync": {"lat_ns": {"percentile": {"99.000000": 842000}}}}]})
        monkeypatch.setattr(probes, "run", lambda *_: reading.answer(0, words))
        assert probes.flush_time(str(tmp_path)) == {
            "folder": str(tmp_path),
            "tool": "fio",
            "p99_ms": 0.842,
            "error": "",
        }
        monkeypatch.setattr(probes, "run", lambda *_: reading.answer(0, "fio: bad option"))
        assert probes.flush_time(str(tmp_path))["tool"] == "own probe"


class TestLeftovers:
    def test_only_the_server_of_a_secret_file_is_told(self, tmp_path, monkeypatch):
        (tmp_path / "config.yaml").write_text('token: hush\ndatastore-endpoint: "mysql://user:hush@tcp(db:3306)/k3s"\n')
        (tmp_path / "env").write_text("K3S_TOKEN='hush'\nK3S_URL='https://10.99.0.1:6443'\n")
        (tmp_path / "kubelet.conf").write_text("clusters:\n- cluster:\n    server: https://10.30.0.5:6443\n  name: x\n")
        files = {
            "k3s": (str(tmp_path / "config.yaml"), str(tmp_path / "env")),
            "kubeadm": (str(tmp_path / "kubelet.conf"),),
        }
        monkeypatch.setattr(services, "SERVER_FILES", files)
        found = services.leftovers("s4lt")
        assert found["servers"] == {"k3s": "https://10.99.0.1:6443", "kubeadm": "https://10.30.0.5:6443"}
        assert found["datastore"] == "mysql"
        assert "hush" not in json.dumps(found)

    def test_a_token_is_told_by_its_digest_alone(self, tmp_path, monkeypatch):
        (tmp_path / "token").write_text("K10aaaa::server:hush\n")
        monkeypatch.setattr(services, "TOKEN", str(tmp_path / "token"))
        digest = services.leftovers("s4lt")["token_digest"]
        assert len(digest) == 64
        assert digest != services.leftovers("other")["token_digest"]
        (tmp_path / "token").write_text("hush\n")
        assert services.leftovers("s4lt")["token_digest"] == digest

    def test_an_empty_folder_is_no_trace(self, tmp_path, monkeypatch):
        (tmp_path / "full").mkdir()
        (tmp_path / "full" / "x").touch()
        (tmp_path / "empty").mkdir()
        monkeypatch.setattr(
            services, "TRACES", (str(tmp_path / "full"), str(tmp_path / "empty"), str(tmp_path / "none"))
        )
        assert services.leftovers("")["paths"] == [str(tmp_path / "full")]


def test_the_client_of_this_session_is_found_through_sudo():
    code = (
        "import subprocess, sys; sys.exit(subprocess.call(['env', '-i', sys.executable, '-c', "
        "'from preflight_machine.system import _client; print(_client())'], env={'PYTHONPATH': sys.argv[1]}))"
    )
    inner = code.replace("['env', '-i', sys.executable", "['env', '-i', 'PYTHONPATH=' + sys.argv[1], sys.executable")
    environment = {**os.environ, "SSH_CONNECTION": "10.30.0.250 40022 10.30.0.11 22"}
    result = subprocess.run(
        [sys.executable, "-c", inner, str(MODULE)], env=environment, capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "10.30.0.250"


def test_a_machine_that_never_fetched_its_package_lists(tmp_path, monkeypatch):
    asked = []

    def run(command, *_):
        asked.append(command)
        return reading.answer(0, "gcc:\n  Installed: (none)\n")

    monkeypatch.setattr(packages, "run", run)
    monkeypatch.setattr(packages, "LISTS", str(tmp_path))
    monkeypatch.setattr(packages, "_apt_repositories", dict)
    found = packages.packages(["gcc"])
    update = next(command for command in asked if command[:2] == ["apt-get", "update"])
    assert any(option.startswith("Dir::State::lists=/") and "preflight-" in option for option in update)
    assert found["offered"]["out"].startswith("gcc:")


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("", None),
        ('Acquire::http::Proxy "http://proxy:3128";\n', {"http": "http://proxy:3128", "https": "http://proxy:3128"}),
        (
            'Acquire::http::Proxy "http://a:1";\nAcquire::https::Proxy "http://b:2";\n',
            {"http": "http://a:1", "https": "http://b:2"},
        ),
    ],
)
def test_addresses_are_read_through_the_proxy_of_the_package_system(monkeypatch, words, wanted):
    monkeypatch.setattr(packages, "run", lambda _: reading.answer(0, words))
    monkeypatch.setattr(packages, "text", lambda _: None)
    assert packages._proxies() == wanted
    monkeypatch.setattr(packages, "text", lambda _: "[main]\nproxy = http://c:3\n")
    assert packages._proxies() == {"http": "http://c:3", "https": "http://c:3"}


def test_reverse_lookups_are_timed():
    assert system._reverse("127.0.0.1")["seconds"] < 5
