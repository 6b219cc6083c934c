"""A cluster that is not the site's is refused, in words, before anything is registered."""

import http.server
import threading
from pathlib import Path

import pytest

from rackwright.errors import Refusal
from rackwright.site.catalog import Catalog
from rackwright.site.site import Site
from stacks.cluster import Seen, look, mark, refuse_foreign

CATALOG = Catalog.load()
FILE = Path("kubeconfig")
MINOR = CATALOG.kubernetes.minor


def seen(nodes=("hgx-01",), minor=MINOR, owner=None) -> Seen:
    return Seen(frozenset(nodes), minor, owner)


def refused(site, what) -> Refusal:
    with pytest.raises(Refusal) as refusal:
        refuse_foreign(site, 1, CATALOG, what, FILE)
    return refusal.value


def test_the_site_s_own_cluster_is_taken(example):
    refuse_foreign(example, 1, CATALOG, seen(), FILE)
    refuse_foreign(example, 1, CATALOG, seen(owner={"site": "example", "phase": "1"}), FILE)


@pytest.mark.parametrize(("what", "says", "cures"), [
    (seen(owner={"site": "lab", "phase": "1"}), "that of lab, phase 1", "clusters.phase1.kubeconfig"),
    (seen(owner={"site": "example", "phase": "2"}), "that of example, phase 2", "clusters.phase1.kubeconfig"),
    (seen(owner={}), "that of another site", "clusters.phase1.kubeconfig"),
    (seen(nodes=("other",)), "not hosts of example: other", "write these hosts"),
    (seen(nodes=("hgx-01", "b", "a")), "not hosts of example: a, b", "write these hosts"),
    (seen(nodes=()), "lacks nodes of example: hgx-01", "join it first"),
    (seen(minor="1.29"), "runs Kubernetes 1.29", f"Bring the cluster to {MINOR}"),
])  # fmt: skip
def test_another_cluster_is_not(example, what, says, cures):
    refusal = refused(example, what)
    assert says in refusal.what
    assert cures in refusal.cure


def test_the_mark_is_what_is_looked_for(example):
    assert mark("example", 1)["data"] == {"site": "example", "phase": "1"}
    refuse_foreign(example, 1, CATALOG, seen(owner=mark("example", 1)["data"]), FILE)


def test_a_host_that_is_awaited_may_be_missing_or_there():
    lab = Site.load(Path(__file__).resolve().parents[2] / "inventory" / "lab")
    everybody = {host.name for host in lab.hosts_in(2)}
    owner = mark("lab", 2, ["gpu-01"])["data"]
    assert owner == {"site": "lab", "phase": "2", "awaits": "gpu-01"}
    for nodes in (everybody, everybody - {"gpu-01"}):
        refuse_foreign(lab, 2, CATALOG, seen(nodes, owner=owner), FILE, ["gpu-01"])
    with pytest.raises(Refusal, match="lacks nodes of lab: gpu-01") as refusal:
        refuse_foreign(lab, 2, CATALOG, seen(everybody - {"gpu-01"}, owner=owner), FILE)
    assert "pulumi config set -s phase2 rackwright:awaits HOST" in refusal.value.cure
    with pytest.raises(Refusal, match="lacks nodes of lab: gpu-02"):
        refuse_foreign(lab, 2, CATALOG, seen(everybody - {"gpu-02"}, owner=owner), FILE, ["gpu-01"])


@pytest.fixture
def kubectl(toolbox, monkeypatch):
    monkeypatch.setenv("PATH", str(toolbox["kubectl"].path.parent), prepend=":")


def kubeconfig(folder: Path, server: str) -> Path:
    file = folder / "kubeconfig"
    file.write_text(
        f"{{apiVersion: v1, kind: Config, current-context: c, clusters: [{{name: c, cluster: {{server: '{server}'}}}}],"
        " contexts: [{name: c, context: {cluster: c, user: u}}], users: [{name: u, user: {token: canary-token}}]}"
    )
    return file


def test_a_kubeconfig_that_is_not_there_is_said(tmp_path):
    with pytest.raises(Refusal, match="is not there"):
        look(tmp_path / "none")


@pytest.mark.usefixtures("kubectl")
@pytest.mark.parametrize("text", ["", "not a kubeconfig", "[1, 2", "\t", "apiVersion: v1\nkind: Config\n", "\0\1"])
def test_a_file_that_is_no_kubeconfig_is_said(tmp_path, text):
    file = tmp_path / "kubeconfig"
    file.write_text(text)
    with pytest.raises(Refusal, match="does not answer"):
        look(file)


@pytest.mark.usefixtures("kubectl")
def test_a_server_that_is_away_is_said_and_no_token_with_it(tmp_path):
    with pytest.raises(Refusal, match="does not answer") as refusal:
        look(kubeconfig(tmp_path, "http://127.0.0.1:1"))
    assert "canary" not in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.usefixtures("kubectl")
def test_what_is_no_kubernetes_is_said(tmp_path):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>")

        def log_message(self, *arguments):
            """Silent."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(Refusal, match="does not answer"):
            look(kubeconfig(tmp_path, f"http://127.0.0.1:{server.server_address[1]}"))
        server.shutdown()


def test_without_kubectl_the_cure_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Refusal, match="rackwright env"):
        look(kubeconfig(tmp_path, "http://127.0.0.1:1"))


@pytest.mark.usefixtures("kubectl")
def test_a_real_cluster_is_seen_as_it_is(control_plane):
    found = look(control_plane.kubeconfig)
    assert found.minor == MINOR
    assert found.mark is None
