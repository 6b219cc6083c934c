"""Stand-ins against what they stand for: upstream's values and definitions, and its charts where somebody has them."""

import json
import os
import shutil
from pathlib import Path

import pytest
import yaml
from chart_rendering import Loader, render
from told_charts import told

from rackwright.sandbox.chart_sources import PROJECTS, STAND_INS
from rackwright.site.catalog import Catalog
from rackwright.site.site import Site

INVENTORY = Path(__file__).resolve().parents[2] / "inventory"
NAMESPACES = {
    "cert-manager": "certificates",
    "topolvm": "storage",
    "gpu-operator": "gpu-operator",
    "cloudnative-pg": "postgres",
    "langfuse": "langfuse",
    "plugin-barman-cloud": "postgres",
    "qdrant": "qdrant",
    "kube-prometheus-stack": "monitoring",
    "lws": "groups",
    "kserve-llmisvc-crd": "kserve",
    "kserve-llmisvc-resources": "kserve",
}
# Subcharts of their own, whose values the parent's file does not spell out.
OF_SUBCHARTS = {"kube-prometheus-stack": {"grafana", "kube-state-metrics", "prometheus-node-exporter"}}
OF_TEMPLATES = {"qdrant": {"apiKey", "readOnlyApiKey"}, "gpu-operator": {"node-feature-discovery"}}


def keys(values: dict, path: str = "") -> list[str]:
    found = []
    for key, value in values.items():
        here = f"{path}.{key}" if path else key
        found += keys(value, here) if isinstance(value, dict) and value else [here]
    return found


def has(values: object, key: str) -> bool:
    """Whether values have a key; below an empty map or nothing, upstream takes anything."""
    for part in key.split("."):
        if values in ({}, None):
            return True
        if not isinstance(values, dict) or part not in values:
            return False
        values = values[part]
    return True


def differences(upstream: object, ours: object, path: str = "") -> list[str]:
    if isinstance(upstream, dict) and isinstance(ours, dict):
        pairs = ((key, upstream.get(key), ours.get(key)) for key in sorted({*upstream, *ours}, key=str))
        return [line for key, left, right in pairs for line in differences(left, right, f"{path}/{key}")]
    return [] if upstream == ours or not (upstream or ours) else [f"{path}: upstream {upstream!r}, ours {ours!r}"]


@pytest.fixture(scope="module")
def upstream() -> Path:
    folder = os.environ.get("RACKWRIGHT_UPSTREAM")
    if not folder:
        pytest.skip("RACKWRIGHT_UPSTREAM names no folder with upstream's values and definitions: they are not compared")
    return Path(folder)


@pytest.mark.parametrize("chart", NAMESPACES)
def test_values_that_a_stand_in_looks_at_are_upstreams(chart, upstream):
    ours = yaml.safe_load((STAND_INS / chart / "values.yaml").read_text())
    known = yaml.load((upstream / "values" / chart / "values.yaml").read_text(), Loader)
    left_out = OF_SUBCHARTS.get(chart, set()) | OF_TEMPLATES.get(chart, set())
    strange = [key for key in keys(ours) if key.split(".")[0] not in left_out and not has(known, key)]
    assert strange == [] or {key.rpartition(".")[2] for key in strange} <= {"storageClassName"}


@pytest.mark.parametrize("chart", [chart for chart, projects in PROJECTS.items() if projects])
def test_kinds_that_a_stand_in_brings_are_upstreams(chart, upstream):
    ours = yaml.safe_load_all((STAND_INS / chart / "crds" / "definitions.yaml").read_text())
    theirs = {
        each["metadata"]["name"]: each["spec"]
        for project in PROJECTS[chart]
        for file in (upstream / "crds" / project).glob("*.yaml")
        for each in yaml.load_all(file.read_text(), Loader)
        if each
    }
    for each in ours:
        spec, known = each["spec"], theirs[each["metadata"]["name"]]
        assert (spec["group"], spec["scope"]) == (known["group"], known["scope"])
        assert spec["names"]["kind"] == known["names"]["kind"]
        assert spec["versions"][0]["name"] in {version["name"] for version in known["versions"]}


def test_every_chart_of_the_catalog_is_compared():
    assert set(NAMESPACES) == set(PROJECTS) == set(Catalog.load().charts)


def test_a_difference_would_be_found():
    assert differences({"a": {"b": 1}, "c": []}, {"a": {"b": 2}}) == ["/a/b: upstream 1, ours 2"]
    assert not has({"a": {"b": 1}}, "a.c")


@pytest.mark.parametrize("sample", ["example", "workstation", "lab"])
@pytest.mark.parametrize("chart", NAMESPACES)
def test_a_stand_in_makes_what_upstream_makes(chart, sample, tmp_path):
    charts, helm = os.environ.get("RACKWRIGHT_CHARTS"), shutil.which("helm")
    if not charts or not helm:
        pytest.skip("RACKWRIGHT_CHARTS names no folder of real charts, or there is no helm: they are not compared")
    values = tmp_path / "values.yaml"
    values.write_text(json.dumps(told(Site.load(INVENTORY / sample))[chart]))
    theirs = render(helm, Path(charts) / chart, values, NAMESPACES[chart])
    ours = render(helm, STAND_INS / chart, values, NAMESPACES[chart])
    assert set(ours) == set(theirs)
    assert differences(theirs, ours) == []
