"""Rehearsals of what does not work: each says what, where and why."""

import errno
import shutil

import pytest
from rehearsing import INVENTORY, own_cache, working_in

from rackwright.errors import Refusal
from rackwright.sandbox import rehearsal, settling
from rackwright.sandbox.chart_sources import STAND_INS
from rackwright.sandbox.rehearsal import rehearse
from rackwright.secrets import throw_away
from rackwright.site.site import Site

SITE = INVENTORY / "workstation"
NOWHERE = "      nodeSelector: {no: where}\n"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch, toolbox):
    """A cache of the test's own, in which nothing may be left when a rehearsal has ended."""
    assert toolbox["pulumi"]
    cache = own_cache(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    yield cache
    assert working_in(cache) == []
    assert not list((cache / "rackwright" / "control-planes").glob("*"))


@pytest.fixture
def altered(tmp_path):
    """A folder with one stand-in in it, in which a text is replaced."""

    def alter(chart, file, old, new):
        shutil.copytree(STAND_INS / chart, tmp_path / "charts" / chart)
        template = tmp_path / "charts" / chart / "templates" / file
        text = template.read_text()
        assert old in text
        template.write_text(text.replace(old, new))
        return str(tmp_path / "charts")

    return alter


def test_a_chart_that_fails_is_told_with_its_own_words(altered):
    charts = altered("qdrant", "store.yaml", "kind: StatefulSet", '{{ fail "there is no vector store" }}')
    with pytest.raises(Refusal, match="there is no vector store") as refused:
        rehearse(SITE, charts=charts)
    assert "qdrant/qdrant" in refused.value.what


def test_what_everything_waits_for_is_told_with_the_reason(altered, monkeypatch):
    monkeypatch.setattr(settling, "QUIET_S", 6.0)
    charts = altered("cloudnative-pg", "operator.yaml", "      terminationGracePeriodSeconds: 10\n", NOWHERE)
    with pytest.raises(Refusal, match="pulumi up has waited") as refused:
        rehearse(SITE, charts=charts)
    assert "postgres/cloudnative-pg" in refused.value.what
    assert "didn't match Pod's node affinity/selector" in refused.value.what


def test_what_nothing_waits_for_fails_a_check_with_the_reason(altered, monkeypatch):
    monkeypatch.setattr(settling, "SETTLE_S", 3.0)
    charts = altered("kube-prometheus-stack", "grafana.yaml", "      serviceAccountName: {{ $name }}\n", NOWHERE)
    report = rehearse(SITE, charts=charts)
    assert not report.succeeded
    assert "FAIL Is every pod ready?" in report.text()
    assert "didn't match Pod's node affinity/selector" in report.text()
    (chart,) = [each for each in report.charts if each.name == "kube-prometheus-stack"]
    assert not chart.is_stand_in
    assert f"chart kube-prometheus-stack: {charts}/kube-prometheus-stack" in report.text()


def test_a_resource_that_the_cluster_refuses_is_told(altered):
    charts = altered("cert-manager", "programs.yaml", "  replicas: {{ .settings.replicaCount }}", "  replicas: many")
    with pytest.raises(Refusal, match="certificates/cert-manager"):
        rehearse(SITE, charts=charts)


def test_upstreams_definitions_judge_what_the_stand_ins_would_take(tmp_path):
    folder = tmp_path / "crds" / "cert-manager"
    folder.mkdir(parents=True)
    (folder / "certificates.yaml").write_text(STRICT)
    with pytest.raises(Refusal, match=r"gateway/gateway.*secretName"):
        rehearse(SITE, crds=tmp_path / "crds")


def test_a_wrong_vault_password_is_told_before_anything_starts(tmp_path, monkeypatch):
    folder = tmp_path / "site"
    folder.mkdir()
    shutil.copy(SITE / "site.yml", folder)
    vault = throw_away(Site.load(folder), folder)
    vault.password_file.write_text("another one, long enough to be taken\n")
    monkeypatch.delenv("ANSIBLE_VAULT_PASSWORD_FILE", raising=False)
    heard = []
    with pytest.raises(Refusal, match="password"):
        rehearse(folder, progress=heard.append)
    assert heard == []


def test_a_vault_that_is_complete_is_said_to_be(tmp_path, monkeypatch):
    folder = tmp_path / "site"
    folder.mkdir()
    shutil.copy(SITE / "site.yml", folder)
    throw_away(Site.load(folder), folder)
    monkeypatch.delenv("ANSIBLE_VAULT_PASSWORD_FILE", raising=False)
    assert rehearsal._look_at_vault(Site.load(folder), folder) == "opened, and complete"


@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        ({"charts": "nowhere"}, "is not there"),
        ({"charts": str(INVENTORY)}, "holds none of the charts"),
        ({"crds": INVENTORY / "nowhere"}, "is not there"),
        ({"crds": INVENTORY}, "holds definitions of none"),
        ({"phase": 2}, "has no phase 2"),
    ],
)
def test_what_cannot_be_rehearsed_is_told_before_anything_starts(wishes, said):
    heard = []
    with pytest.raises(Refusal, match=said):
        rehearse(SITE, progress=heard.append, **wishes)
    assert heard == []


def test_a_disk_that_is_full_is_told(monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device", "/somewhere")

    monkeypatch.setattr(rehearsal, "throw_away", full)
    with pytest.raises(Refusal, match="The disk of /somewhere is full"):
        rehearse(SITE)


STRICT = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: certificates.cert-manager.io}
spec:
  group: cert-manager.io
  scope: Namespaced
  names: {kind: Certificate, listKind: CertificateList, plural: certificates, singular: certificate}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          x-kubernetes-preserve-unknown-fields: true
          properties:
            spec:
              type: object
              x-kubernetes-preserve-unknown-fields: true
              properties: {secretName: {type: string, maxLength: 3}}
"""
