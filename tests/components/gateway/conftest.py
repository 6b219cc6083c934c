"""The real Envoy on loopback, with the very configuration that the component renders."""

import json
import shutil
import ssl
import subprocess
import sysconfig
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from loopback import HOST, certify, free_port
from stand_in_engine import Engine
from stand_in_names import Names

from components.gateway.envoy import certificate_configuration, envoy_configuration
from components.gateway.objects import command
from components.gateway.place import Place
from rackwright.site.gateway import Gateway
from rackwright.site.tenants import Limits, Tenant

ENVOY = Path(sysconfig.get_paths()["purelib"]) / "envoy" / "_bin" / "envoy"


@dataclass
class Proxy:
    """A running proxy and how to call it."""

    process: subprocess.Popen
    place: Place
    keys: dict[str, str]
    engines: dict[str, Engine]
    folder: Path
    log: Path
    clients: list[httpx.Client] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.place.https_port}"

    def client(self, tenant: str | None = "chat", **headers) -> httpx.Client:
        context = ssl.create_default_context(cafile=self.folder / "anchor.crt")
        given = {"authorization": f"Bearer {self.keys[tenant]}"} if tenant else {}
        client = httpx.Client(base_url=self.url, verify=context, headers=given | headers, timeout=20)
        self.clients.append(client)
        return client


@pytest.fixture
def start(tmp_path):
    """Start a proxy for some models; everything that it started is ended afterwards."""
    running: list[Proxy] = []

    def begin(
        models=("llama", "qwen"),
        tenants=None,
        others=None,
        names=None,
        told=None,
        authority=None,
        signed_by=None,
        **settings,
    ) -> Proxy:
        gateway = Gateway(host=HOST, **{"replicas": 1, "request_limit_mib": 1} | settings)
        tenants = tenants or (Tenant(name="chat", key="chat_key"), Tenant(name="batch", key="batch_key"))
        keys = {tenant.key: f"a-key-of-{tenant.name}-{'x' * 24}" for tenant in tenants}
        engines = {model: Engine() for model in models}
        upstreams = {model: engine.address for model, engine in engines.items()} | (others or {})
        named = {tenant.name: keys[tenant.key] for tenant in tenants}
        for _ in range(5):  # a port that was free may be somebody's by the time that the proxy asks for it
            folder = Path(tmp_path / f"proxy-{len(running)}")
            folder.mkdir()
            certify(folder, signed_by)
            if signed_by:  # cert-manager puts it beside the pair
                shutil.copy(folder / "anchor.crt", folder / "ca.crt")
            if authority:  # whom this one trusts behind another door
                shutil.copy(authority, folder / "ca.crt")
            place = Place("127.0.0.1", free_port(), free_port(), free_port(), str(folder), str(folder))
            rendered = envoy_configuration(gateway, tenants, keys, upstreams, place, **(told or {}))
            if names:
                ask_for_names(rendered, names)
            running.append(Proxy(run_envoy(rendered, place, folder), place, named, engines, folder, folder / "log"))
            if wait_until_ready(running[-1]):
                return running[-1]
        raise AssertionError(running[-1].log.read_text())

    yield begin
    for proxy in running:
        for client in proxy.clients:
            client.close()
        proxy.process.kill()
        proxy.process.wait()
        for engine in proxy.engines.values():
            engine.end()
        shutil.rmtree(proxy.folder)


def run_envoy(rendered: dict, place: Place, folder: Path) -> subprocess.Popen:
    """The proxy as its pod starts it, with files in a folder of the test's."""
    (folder / "envoy.json").write_text(json.dumps(rendered))
    (folder / "certificate.json").write_text(json.dumps(certificate_configuration(place)))
    with (folder / "log").open("w") as stream:
        return subprocess.Popen([ENVOY, *command(place)[1:]], stdout=stream, stderr=stream)


def ask_for_names(rendered: dict, names: Names) -> None:
    """Let the proxy ask these, rather than those of the machine."""
    kind = "type.googleapis.com/envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig"
    address = {"socket_address": {"address": "127.0.0.1", "port_value": names.port}}
    resolver = {"name": "envoy.network.dns_resolver.cares", "typed_config": {"@type": kind, "resolvers": [address]}}
    for cluster in rendered["static_resources"]["clusters"]:
        if "cluster_type" in cluster:
            cluster["cluster_type"]["typed_config"]["typed_dns_resolver_config"] = resolver


def wait_until_ready(proxy: Proxy) -> bool:
    """False where it ended because a port was taken; whatever else ends it is a fault."""
    ready = f"http://127.0.0.1:{proxy.place.metrics_port}/ready"
    for _ in range(200):
        if proxy.process.poll() is not None:
            assert "Address already in use" in proxy.log.read_text(), proxy.log.read_text()
            return False
        try:
            if httpx.get(ready).status_code == 200:
                return True
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError(proxy.log.read_text())


@pytest.fixture
def renew():
    """Put a fresh pair where the proxy looks, as the kubelet does: both at once."""

    def put(proxy: Proxy) -> None:
        fresh = proxy.folder / "fresh"
        fresh.mkdir()
        certify(fresh)
        for name in ("tls.key", "tls.crt", "anchor.crt"):
            (fresh / name).replace(proxy.folder / name)

    return put


@pytest.fixture
def limited():
    """A tenant with small limits beside one without."""

    def make(**limits) -> tuple[Tenant, ...]:
        return (
            Tenant(name="chat", key="chat_key", limits=Limits(**limits)),
            Tenant(name="batch", key="batch_key"),
        )

    return make
