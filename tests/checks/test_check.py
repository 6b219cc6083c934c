"""The whole check of a cluster, as the command calls it."""

from pathlib import Path

import pytest

from rackwright.checks import check
from rackwright.checks.access import Access
from rackwright.checks.objects import Objects, matches
from rackwright.checks.run import CHECKS
from rackwright.checks.volumes import size
from rackwright.checks.ways import End, is_open
from rackwright.errors import Refusal
from rackwright.site.site import Site

INVENTORY = Path(__file__).resolve().parents[2] / "inventory"


def ask(platform, site=None, kubeconfig=None):
    program = platform.kubectl.program
    return check(site or platform.site, 1, platform.catalog, kubeconfig or platform.kubectl.kubeconfig, program)


def test_a_rehearsed_cluster_passes_as_far_as_it_can_be_seen(platform):
    verdict = ask(platform)
    assert verdict.succeeded
    assert verdict.as_json()["checks"][0] == {
        "name": "nodes",
        "question": "Is every host a ready node?",
        "outcome": "not seen",
        "findings": [
            {"outcome": "not seen", "where": "Node ws-01", "what": "is ready; its kubelet is played", "cure": ""}
        ],
    }
    assert verdict.text().splitlines()[-1] == f"{len(CHECKS) - 9} passed, 0 failed, 9 not seen"


def test_a_failure_is_told_with_its_cure_and_counted(platform):
    with platform.without("secret", "qdrant-keys", "qdrant"):
        verdict = ask(platform)
    assert not verdict.succeeded
    assert "FAIL Is everything there that objects name?" in verdict.text()
    assert "cure: " in verdict.text()
    assert "1 failed" in verdict.text().splitlines()[-1]


def test_the_cluster_of_another_site_is_refused(platform):
    with pytest.raises(Refusal, match="is that of workstation, phase 1, not that of lab"):
        ask(platform, site=Site.load(INVENTORY / "lab"))


def test_a_cluster_with_nothing_of_ours_is_refused(platform):
    with (
        platform.without("configmap", "rackwright", "kube-system"),
        pytest.raises(Refusal, match="nothing of Rackwright"),
    ):
        ask(platform)


def test_a_kubeconfig_that_is_not_there_is_refused(platform, tmp_path):
    with pytest.raises(Refusal, match="is not there"):
        ask(platform, kubeconfig=tmp_path / "none")


def test_a_folder_for_a_kubeconfig_is_refused(platform, tmp_path):
    with pytest.raises(Refusal, match="is no file"):
        ask(platform, kubeconfig=tmp_path)


def test_a_cluster_that_does_not_answer_is_refused(platform, tmp_path):
    text = platform.kubectl.kubeconfig.read_text()
    server = next(line.split()[-1] for line in text.splitlines() if "server:" in line)
    (tmp_path / "dead").write_text(text.replace(server, "https://127.0.0.1:9"))
    with pytest.raises(Refusal, match="did not answer"):
        ask(platform, kubeconfig=tmp_path / "dead")


def test_a_colon_in_the_name_of_a_kubeconfig_does_not_split_it(toolbox, tmp_path):
    (tmp_path / "a b:c").write_text(
        "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:9'}}]\n"
        "users: [{name: u, user: {token: t}}]\n"
        "contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n"
    )
    with pytest.raises(Refusal, match=r"127\.0\.0\.1:9") as refused:
        Access(tmp_path / "a b:c", toolbox["kubectl"].path).objects()
    assert f"kubectl '--kubeconfig={tmp_path}/a b:c' get nodes" in refused.value.cure


def test_a_missing_kubectl_is_refused(platform):
    with pytest.raises(Refusal, match="kubectl cannot be run"):
        Access(platform.kubectl.kubeconfig, "/nowhere/kubectl").objects()


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        (None, False),
        ({}, True),
        ({"matchLabels": {"a": "1"}}, True),
        ({"matchLabels": {"a": "2"}}, False),
        ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["1", "2"]}]}, True),
        ({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["1"]}]}, False),
        ({"matchExpressions": [{"key": "b", "operator": "DoesNotExist"}]}, True),
        ({"matchExpressions": [{"key": "b", "operator": "Exists"}]}, False),
    ],
)
def test_selectors_select_as_kubernetes_says(selector, selected):
    assert matches(selector, {"a": "1"}) is selected


@pytest.mark.parametrize(
    ("quantity", "size_bytes"), [("1500G", 1500 * 10**9), ("2Gi", 2**31), ("0.5Ti", 2**39), ("12", 12)]
)
def test_quantities_are_read_as_kubernetes_says(quantity, size_bytes):
    assert size(quantity) == size_bytes


def policy(namespace="b", pods=None, **spec):
    types = [name.capitalize() for name in spec]
    return {
        "kind": "NetworkPolicy",
        "metadata": {"name": "p", "namespace": namespace},
        "spec": {"podSelector": pods or {}, "policyTypes": types, **spec},
    }


NAMED = {"namespaceSelector": {"matchLabels": {"name": "a"}}}
SPACES = [{"kind": "Namespace", "metadata": {"name": name, "labels": {"name": name}}} for name in ("a", "b")]
FROM = End("a", {"app": "x"}, ("10.0.0.1",))
TO = End("b", {"app": "y"}, ("10.0.0.2",), ({"name": "http", "containerPort": 80},))
TCP = {"protocol": "TCP"}


@pytest.mark.parametrize(
    ("policies", "is_open_there"),
    [
        ([], True),
        ([policy(ingress=[])], False),
        ([policy(ingress=[{}])], True),
        ([policy(ingress=[{"from": [NAMED]}])], True),
        ([policy(ingress=[{"from": [NAMED | {"podSelector": {"matchLabels": {"app": "z"}}}]}])], False),
        ([policy(ingress=[{"from": [{"podSelector": {}}]}])], False),
        ([policy(ingress=[{"ports": [TCP | {"port": 80}]}])], True),
        ([policy(ingress=[{"ports": [TCP | {"port": "http"}]}])], True),
        ([policy(ingress=[{"ports": [TCP | {"port": "metrics"}]}])], False),
        ([policy(ingress=[{"ports": [TCP | {"port": 70, "endPort": 90}]}])], True),
        ([policy(ingress=[{"ports": [{"protocol": "UDP", "port": 80}]}])], False),
        ([policy(ingress=[{"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}])], True),
        ([policy(ingress=[{"from": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.0.0.1/32"]}}]}])], False),
        ([policy(pods={"matchLabels": {"app": "z"}}, ingress=[])], True),
        ([policy(ingress=[]), policy(ingress=[{}]) | {"metadata": {"name": "q", "namespace": "b"}}], True),
        ([policy("a", egress=[])], False),
        ([policy("a", egress=[{"to": [{"namespaceSelector": {}}]}])], True),
    ],
)
def test_policies_let_through_as_kubernetes_says(policies, is_open_there):
    assert is_open(Objects([*SPACES, *policies]), FROM, TO, 80) is is_open_there
