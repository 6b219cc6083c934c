"""Replicas that are simulated, and before them what is real: llm-d's picker and Envoy, as our components tell them.

The programs are not part of this checkout: RACKWRIGHT_PICKER names llm-d-router's `epp`, RACKWRIGHT_INFERENCE_SIM
llm-d's simulator. Everything is on loopback, by file discovery, so that no cluster is needed; requests then all have
priority 0, whatever their objective. With `kubeconfig` the picker finds the replicas, and how urgent requests are,
in a cluster instead.

A simulator knows nothing of a GPU: what is seen here is who is asked when, not how fast a machine is.
"""

import contextlib
import json
import os
import socket
import ssl
import subprocess
import sys
import sysconfig
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from components.gateway.envoy import certificate_configuration, envoy_configuration
from components.gateway.objects import command
from components.gateway.place import Place
from components.llm_d.picking import configuration
from components.llm_d.pod import common_arguments
from rackwright.site.gateway import Gateway
from rackwright.site.models import Model
from rackwright.site.routing import Routing
from rackwright.site.tenants import Limits, PriorityClass, Tenant

ROOT = Path(__file__).resolve().parents[1]
ENVOY = Path(sysconfig.get_paths()["purelib"]) / "envoy" / "_bin" / "envoy"
PROGRAMS = {"picker": "RACKWRIGHT_PICKER", "simulator": "RACKWRIGHT_INFERENCE_SIM"}
START_S = 300  # until everything answers, on a machine that does much else
PLACES = 16  # requests that a replica works on at once
MODEL = Model.model_validate(
    {
        "name": "routed",
        "source": {"local": "simulated"},
        "architecture": "Qwen/Qwen3-32B",
        "precision": "bfloat16",
        "tensor_parallel": 2,
        "context_length": 32_768,
        "sequences": PLACES,
    }
)
# Other ways to the same replicas, to compare with: each in turn, by a session's name, and as a model without a picker.
OTHERS = ("turns", "hashed", "spread")
SESSION = "x-trace-session"
CLASSES: tuple[PriorityClass, ...] = ("interactive", "agents", "batch")
# Of a 32B on two H100: 15,000 tokens of prompt a second, 50 tokens of answer, both slower when full.
SIMULATED = [
    "--model=routed", "--force-dummy-tokenizer", "--mode=random", "--max-model-len=32768", "--zmq-endpoint=",
    "--latency-calculator=per-token", "--prefill-overhead=10ms", "--prefill-time-per-token=66.667us",
    "--inter-token-latency=20ms", "--time-factor-under-load=2.0",
    "--enable-kvcache", "--kv-cache-size=1500", "--block-size=64",
]  # fmt: skip


class ProgramMissingError(Exception):
    """A program that was not named, said in a sentence."""


def programs() -> dict[str, Path]:
    """The programs that the environment names; ProgramMissingError says which are not."""
    found = {name: os.environ.get(variable, "") for name, variable in PROGRAMS.items()}
    lacking = [PROGRAMS[name] for name, path in found.items() if not path or not Path(path).is_file()]
    if lacking:
        raise ProgramMissingError(f"{' and '.join(lacking)} name no program: the real picker was not run")
    return {name: Path(path) for name, path in found.items()}


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nobody listens on."""
    with contextlib.ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]


@dataclass
class Rack:
    """Replicas, pickers and a proxy that run; `with` ends them."""

    folder: Path
    replicas: int = 4
    late: int = 0  # of them, those that come when `complete` is called
    seed: int = 1
    routing: Routing = field(default_factory=Routing)
    kubeconfig: Path | None = None
    simulated: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)
    pickers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    ports: list[int] = field(default_factory=list)

    def __enter__(self) -> "Rack":
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        running = [*self.simulated.values(), *self.pickers, *([self.proxy] if hasattr(self, "proxy") else [])]
        for process in running:
            process.kill()
        for process in running:
            process.wait()

    def _start(self) -> None:
        self.programs = programs()
        self.folder.mkdir(parents=True, exist_ok=True)
        numbers = free_ports(self.replicas + 9)
        self.ports, rest = numbers[: self.replicas], numbers[self.replicas :]
        self.place = Place("127.0.0.1", *rest[:3], str(self.folder), str(self.folder))
        self.picker_ports = [tuple(rest[3:6]), tuple(rest[6:9])]
        there = self.ports[: self.replicas - self.late]
        for port in there:
            self.simulate(port)
        self.list_replicas(there)
        for place in range(2):
            self.pickers.append(self.pick(place))
        self._open()
        for port in there:
            wait_for(f"http://127.0.0.1:{port}/health")
        wait_for(f"http://127.0.0.1:{self.place.metrics_port}/ready")
        for ports in self.picker_ports:
            wait_for(f"http://127.0.0.1:{ports[2]}/metrics", f'ready_endpoints{{name="{self.pool}"}} {len(there)}')

    def complete(self) -> None:
        """Start the late ones. Pickers are told as soon as they answer, as by a cluster; the proxy asks by itself."""
        for port in self.ports[self.replicas - self.late :]:
            self.simulate(port)
            wait_for(f"http://127.0.0.1:{port}/health")
        self.list_replicas(self.ports)

    @property
    def pool(self) -> str:
        """The pool's name in the picker's figures."""
        return MODEL.name

    @property
    def plain(self) -> list[int]:
        """Where requests go that no picker places."""
        return self.ports

    def simulate(self, port: int) -> None:
        """Start a replica."""
        said = [f"--port={port}", f"--max-num-seqs={PLACES}", f"--seed={self.seed}", *SIMULATED]
        known = {"POD_IP": "127.0.0.1", "POD_NAME": f"replica-{port}", "POD_NAMESPACE": "models"}
        self.simulated[port] = self.run([str(self.programs["simulator"]), *said], f"sim-{port}", known)

    def list_replicas(self, ports: list[int]) -> None:
        """Tell the pickers who is there."""
        named = [
            {"name": f"replica-{port}", "namespace": "models", "address": "127.0.0.1", "port": str(port)}
            for port in ports
        ]
        fresh = self.folder / "endpoints.fresh"
        fresh.write_text(json.dumps({"endpoints": named}))
        fresh.replace(self.folder / "endpoints.yaml")

    def told(self) -> dict[str, Any]:
        """What the component tells its pickers, and where to find the replicas without a cluster."""
        told = configuration(MODEL, self.routing)
        if self.kubeconfig:
            return told
        found = {"path": str(self.folder / "endpoints.yaml"), "watchFile": True}
        told["plugins"] = [*told["plugins"], {"type": "file-discovery", "parameters": found}]
        return told | {"dataLayer": {"discovery": {"pluginRef": "file-discovery"}}}

    def pick(self, place: int) -> subprocess.Popen[bytes]:
        """Start a picker: the first or the spare."""
        file = self.folder / "picker.json"
        file.write_text(json.dumps(self.told()))
        said = ["--pool-name=routed", "--pool-namespace=models", f"--config-file={file}"]
        known = {"KUBECONFIG": str(self.kubeconfig)} if self.kubeconfig else {}
        words = [str(self.programs["picker"]), *said, *common_arguments(*self.picker_ports[place])]
        return self.run(words, f"picker-{place}", known)

    def run(self, words: list[str], name: str, known: dict[str, str]) -> subprocess.Popen[bytes]:
        """Start a program whose words go to a file of its name."""
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(words, stdout=log, stderr=log, env=os.environ | known)

    def figures(self, port: int) -> str:
        """What a program on loopback shows of itself."""
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            return answer.read().decode()

    def client(self, tenant: PriorityClass = "interactive") -> httpx.AsyncClient:
        """A caller of the proxy's."""
        trusted = ssl.create_default_context(cafile=self.folder / "tls.crt")
        limits = httpx.Limits(max_connections=400, max_keepalive_connections=400)
        headers = {"authorization": f"Bearer {key_of(tenant)}"}
        url = f"https://127.0.0.1:{self.place.https_port}"
        return httpx.AsyncClient(base_url=url, verify=trusted, headers=headers, limits=limits, timeout=300)

    def _open(self) -> None:
        wide = Limits(requests_per_minute=1_000_000, concurrent_requests=10_000)
        tenants = [Tenant(name=each, key=each, priority=each, limits=wide) for each in CLASSES]
        upstreams = dict.fromkeys((MODEL.name, *OTHERS), "127.0.0.1:1")
        asked = [f"127.0.0.1:{ports[0]}" for ports in self.picker_ports]
        gateway = Gateway(host="llm.example.internal", replicas=1, request_timeout_s=300)
        keys = {each: key_of(each) for each in CLASSES}
        rendered = envoy_configuration(gateway, tenants, keys, upstreams, self.place, pickers={MODEL.name: asked})
        compared(rendered, self.plain)
        certify(self.folder)
        (self.folder / "envoy.json").write_text(json.dumps(rendered))
        (self.folder / "certificate.json").write_text(json.dumps(certificate_configuration(self.place)))
        words = [str(ENVOY), *command(self.place)[1:]]
        words[words.index("--concurrency") + 1] = "2"
        self.proxy = self.run(words, "envoy", {})


def key_of(tenant: str) -> str:
    """A tenant's key."""
    return f"a-key-of-{tenant}-{'x' * 24}"


def compared(rendered: dict[str, Any], ports: list[int]) -> None:
    """Let every model's own cluster be the replicas, and two of them choose as is to be compared with."""
    for cluster in rendered["static_resources"]["clusters"]:
        if not cluster["name"].startswith("model-"):
            continue
        address = [{"socket_address": {"address": "127.0.0.1", "port_value": port}} for port in ports]
        cluster["load_assignment"]["endpoints"] = [
            {"lb_endpoints": [{"endpoint": {"address": each}} for each in address]}
        ]
        cluster["lb_policy"] = {"model-turns": "ROUND_ROBIN", "model-hashed": "RING_HASH"}.get(
            cluster["name"], cluster["lb_policy"]
        )
    (inner,) = [each for each in rendered["static_resources"]["listeners"] if each["name"] == "models"]
    manager = inner["filter_chains"][0]["filters"][0]["typed_config"]
    for route in manager["route_config"]["virtual_hosts"][0]["routes"]:
        if route["name"] == "hashed":
            route["route"]["hash_policy"] = [{"header": {"header_name": SESSION}}]


def wait_for(url: str, text: str = "") -> None:
    """Until it answers, and says that."""
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=10) as answer:
            if answer.status == 200 and text in answer.read().decode():
                return
        time.sleep(0.2)
    raise AssertionError(f"{url} never answered{f' with {text}' if text else ''}")


def certify(folder: Path) -> None:
    """A key and a certificate of the proxy's, by openssl."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
         "-subj", "/CN=llm.example.internal", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", folder / "tls.key", "-out", folder / "tls.crt"],
        check=True, capture_output=True,
    )  # fmt: skip
