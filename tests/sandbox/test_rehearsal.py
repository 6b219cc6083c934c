"""Whole rehearsals: real control plane, real `pulumi up` of the real stack, checks, report, nothing left."""

import json
import subprocess

import pytest
from rehearsing import INVENTORY, ROOT, Rehearsal, own_cache

COMPONENTS = {"certificates", "gateway", "gpu-operator", "models", "monitoring", "postgres", "qdrant", "storage"}


def changed_in_checkout():
    command = ["git", "status", "--porcelain", "--", "stacks", "Pulumi.yaml", "inventory", ".pulumi"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


# The third sample, workstation, is rehearsed by tests/checks, which keeps it and breaks it.
@pytest.mark.parametrize("sample", ["example", "lab"])
def test_a_sample_comes_up_and_goes_without_a_trace(tmp_path, toolbox, sample):
    before = changed_in_checkout()
    rehearsal = Rehearsal(own_cache(tmp_path), INVENTORY / sample, "--json", HOME=str(tmp_path))
    report = json.loads(rehearsal.process.stdout.read())
    assert rehearsal.ends() == 0, rehearsal.said
    assert report["succeeded"]
    assert {name for name, part in report["components"].items() if part["resources"]} == COMPONENTS
    assert report["second_run"] == {"changes": []}
    assert {check["outcome"] for check in report["checks"]} == {"passed", "not seen"}
    assert all(chart["stand_in"] for chart in report["charts"].values())
    assert report["outputs"]["qdrant"]["http"] == "http://qdrant.qdrant.svc:6333"
    assert {tool["name"] for tool in report["tools"]} == set(toolbox)
    assert len(report["played"]) > 10
    assert rehearsal.left() == []
    assert changed_in_checkout() == before
    in_home = [file for file in tmp_path.rglob("*") if file.is_file() and tmp_path / "cache" not in file.parents]
    assert in_home == []


@pytest.fixture(scope="module")
def sliced(tmp_path_factory, toolbox):
    """A workstation whose GPUs are cut into slices, rehearsed and kept: the rehearsal, and what it reported."""
    assert toolbox["pulumi"]
    folder = tmp_path_factory.mktemp("sliced")
    text = (INVENTORY / "workstation" / "site.yml").read_text()
    models = text.index("models:\n"), text.index("vectors:")
    small = (
        "models:\n"
        "  - {name: gpt-oss-20b, source: {local: gpt-oss-20b}, architecture: openai/gpt-oss-20b, precision: mxfp4,\n"
        "     mig_profile: 1g.24gb, context_length: 32768, sequences: 8, phase1: {replicas: 3}}\n\n"
    )
    text = (text[: models[0]] + small + text[models[1] :]).replace("link: pcie}", "link: pcie, mig: all-1g.24gb}")
    (folder / "site.yml").write_text(text.replace("flavour: open}", "flavour: open, mig_strategy: mixed}"))
    rehearsal = Rehearsal(own_cache(folder), folder / "site.yml", "--keep", "--json")
    report = json.loads(rehearsal.process.stdout.read())
    assert rehearsal.ends() == 0, rehearsal.said
    yield rehearsal, report
    if rehearsal.left():  # the test that ends it was not run, or failed
        Rehearsal(rehearsal.cache, "--end", report["kept"]["name"]).ends()


def test_slices_of_gpus_are_offered_and_taken_under_their_own_names(sliced):
    _, report = sliced
    (gpus,) = [check for check in report["checks"] if check["name"] == "gpus"]
    assert gpus["findings"][0]["what"].startswith("offers 8 nvidia.com/mig-1g.24gb")


def test_a_kept_cluster_goes_on_until_it_is_ended(tmp_path, toolbox, sliced):
    rehearsal, report = sliced
    kubectl = [toolbox["kubectl"].path, "--kubeconfig", report["kept"]["kubeconfig"], f"--cache-dir={tmp_path}"]
    nodes = subprocess.run([*kubectl, "get", "nodes", "-o", "name"], capture_output=True, text=True, check=True)
    assert nodes.stdout == "node/ws-01\n"
    assert not rehearsal.started("pulumi")
    ending = Rehearsal(rehearsal.cache, "--end", report["kept"]["name"])
    assert ending.ends() == 0
    assert rehearsal.left() == []
