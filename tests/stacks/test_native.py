"""`pulumi up -s phase1`, natively: the program, the engine, the provider and an API server, all of them real."""

import base64
import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible.parsing.vault import VaultLib, VaultSecret
from native_stack import Native

from rackwright.sandbox import stages
from rackwright.sandbox.control_plane import ControlPlane
from rackwright.sandbox.nodes import nodes, storage_capacities
from rackwright.secrets import open_vault
from rackwright.site.catalog import Catalog
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]
SITE = "inventory/example"


@pytest.fixture(scope="module")
def native(toolbox, say, tmp_path_factory) -> Iterator[Native]:
    site, catalog = Site.load(ROOT / SITE), Catalog.load()
    address = str(site.hosts_in(1)[0].address)
    before = os.environ.get("ANSIBLE_VAULT_PASSWORD_FILE")
    with ControlPlane(
        toolbox, storage_classes=stages.STORAGE_CLASSES, load_balancer_address=address, progress=say
    ) as cluster:
        cluster.apply(nodes(site, 1, catalog))
        cluster.apply(storage_capacities(site, 1))
        yield Native(tmp_path_factory.mktemp("native"), cluster, toolbox, site)
    if before is None:
        del os.environ["ANSIBLE_VAULT_PASSWORD_FILE"]
    else:
        os.environ["ANSIBLE_VAULT_PASSWORD_FILE"] = before


def test_a_preview_of_an_empty_cluster_shows_everything_and_makes_nothing(native):
    said = native.stack("preview", "--diff")
    assert "to create" in said
    assert not [each for each in native.cluster.kubectl.get("namespaces") if is_ours(each)]


def test_it_comes_up_and_says_how_to_reach_it(native):
    native.stack("up", "--yes", "--skip-preview")
    outputs = json.loads(native.run("stack", "output", "--json", "-s", "phase1").partition("\nwarning")[0])
    assert outputs["gateway"]["models"]["llama-70b"] == "https://llm.example.internal/llama-70b/v1"
    assert len([each for each in native.cluster.kubectl.get("namespaces") if is_ours(each)]) == 8


def test_a_second_time_finds_nothing_to_do(native):
    said = native.stack("up", "--yes", "--skip-preview")
    assert "unchanged" in said
    assert not [word for word in ("created", "updated", "replaced", "deleted") if word in said]
    native.stack("preview", "--diff", "--expect-no-changes")
    native.stack("refresh", "--yes", "--skip-preview")
    native.stack("preview", "--expect-no-changes")


def test_a_changed_key_restarts_who_reads_it_and_no_one_else(native):
    def editions() -> dict[str, str]:
        found = native.cluster.kubectl.get("deployments") + native.cluster.kubectl.get("statefulsets")
        return {
            each["metadata"]["name"]: str(each["spec"]["template"]["metadata"].get("annotations"))
            for each in found
            if each["metadata"]["namespace"] in {"gateway", "qdrant", "models"}
        }

    before = editions()
    vault = native.folder / "vault" / "group_vars" / "all" / "secrets.yml"
    kept = vault.read_text()
    for name in ("tenant_chat_key", "qdrant_api_key"):
        native.secrets[name] = f"canary-rotated-{name}-{'y' * 20}"
    rewrite(vault, native)
    native.stack("up", "--yes")
    after = editions()
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"gateway", "qdrant"}
    vault.write_text(kept)
    native.secrets |= open_vault(native.folder / "vault")
    native.stack("up", "--yes", "--skip-preview")
    assert editions() == before


def test_a_secret_is_found_nowhere(native):
    """In nothing that Pulumi said, kept or logged, and in the cluster only where secrets belong."""
    forms = {
        name: (value.encode(), base64.b64encode(value.encode()).rstrip(b"=")[:-1])
        for name, value in native.secrets.items()
    }
    said = "\n".join(native.said).encode()
    said += native.run("stack", "export", "-s", "phase1").encode()
    files = [file for file in native.folder.rglob("*") if file.is_file() and "vault" not in file.parts]
    public = ("pods", "deployments", "statefulsets", "configmaps", "events", "clusters.postgresql.cnpg.io", "services")
    cluster = json.dumps([native.cluster.kubectl.get(kind) for kind in public]).encode()
    # What Helm keeps of each release: values and manifests, for whoever may list Secrets of that kind.
    for release in native.cluster.kubectl.get("secrets", labels="owner=helm"):
        cluster += gzip.decompress(base64.b64decode(base64.b64decode(release["data"]["release"])))
    for name, spellings in forms.items():
        for spelling in spellings:
            assert spelling not in said, name
            assert spelling not in cluster, name
            assert not [str(file) for file in files if spelling in file.read_bytes()], name


def test_another_site_s_cluster_is_refused_in_one_sentence(native):
    other = native.folder / "other"
    other.mkdir()
    text = (ROOT / SITE / "site.yml").read_text()
    (other / "site.yml").write_text(text.replace("name: example ", "name: other "))
    native.configure(site=str(other))
    said = native.stack("preview", succeeds=False)
    native.configure()
    assert "is that of example, phase 1." in said
    assert "Traceback" not in said


def test_what_is_missing_is_said_without_a_traceback(native):
    for changes, words in (
        ({"kubeconfig": "/nowhere"}, "The kubeconfig /nowhere is not there."),
        ({"site": "inventory/none"}, "inventory/none"),
        ({"secrets": "/nowhere"}, "/nowhere"),
        ({"charts": "/nowhere"}, "The folder of charts /nowhere holds neither"),
    ):
        native.configure(**changes)
        said = native.stack("preview", succeeds=False)
        native.configure()
        assert words in said
        assert "Traceback" not in said


def test_it_is_taken_away_without_a_trace(native):
    native.stack("destroy", "--yes", "--skip-preview")
    assert not [each for each in native.cluster.kubectl.get("namespaces") if is_ours(each)]
    assert not [each for each in native.cluster.kubectl.get("configmaps") if each["metadata"]["name"] == "rackwright"]
    state = json.loads(native.run("stack", "export", "-s", "phase1"))
    assert not state["deployment"].get("resources")


def is_ours(namespace) -> bool:
    return namespace["metadata"].get("labels", {}).get("app.kubernetes.io/part-of") == "rackwright"


def rewrite(vault: Path, native: Native) -> None:
    """Write the vault anew, as ansible-vault edit would."""
    password = Path(native.environment["ANSIBLE_VAULT_PASSWORD_FILE"]).read_bytes().strip()
    text = "".join(f"{name}: {json.dumps(value)}\n" for name, value in native.secrets.items())
    vault.write_bytes(VaultLib([("default", VaultSecret(password))]).encrypt(text))
