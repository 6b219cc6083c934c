"""The file that opens a cluster, and that no other cluster's is written over."""

import pytest
import yaml

from rackwright.errors import Refusal
from rackwright.metal.kubeconfig import kubeconfig, refuse_another

WRITTEN = """\
apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: Q0E=
    server: https://127.0.0.1:6443
  name: default
contexts:
- context:
    cluster: default
    user: default
  name: default
current-context: default
kind: Config
preferences: {}
users:
- name: default
  user:
    client-certificate-data: Q0VSVA==
    client-key-data: S0VZ
"""
OURS = kubeconfig(WRITTEN, "lab-phase1", "10.30.0.11")


def test_it_names_the_cluster_and_its_address_and_keeps_the_keys():
    found = yaml.safe_load(OURS)
    assert found["current-context"] == "lab-phase1"
    assert found["clusters"] == [
        {
            "name": "lab-phase1",
            "cluster": {"certificate-authority-data": "Q0E=", "server": "https://10.30.0.11:6443"},
        }
    ]
    assert found["users"][0] == {
        "name": "lab-phase1",
        "user": {"client-certificate-data": "Q0VSVA==", "client-key-data": "S0VZ"},
    }


def test_kubectl_finds_its_way_in_it():
    found = yaml.safe_load(OURS)
    context = next(each for each in found["contexts"] if each["name"] == found["current-context"])["context"]
    assert context["cluster"] == found["clusters"][0]["name"]
    assert context["user"] == found["users"][0]["name"]


@pytest.mark.parametrize("found", ["", "\n", OURS, OURS.replace("Q0E=", "TkVX")])
def test_an_empty_file_and_the_clusters_own_are_renewed(found):
    assert refuse_another(found, OURS, "~/.kube/lab-phase1") == OURS


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (WRITTEN, "default"),
        (kubeconfig(WRITTEN, "lab-phase2", "10.30.0.5"), "lab-phase2"),
        (kubeconfig(WRITTEN, "lab-phase1", "10.30.0.12"), "lab-phase1"),
        (OURS.replace("clusters:\n", "clusters:\n- {name: work, cluster: {server: 'https://work'}}\n"), "work"),
        ("clusters: []\n", "no name"),
    ],
)
def test_another_clusters_is_left_alone(found, said):
    with pytest.raises(Refusal, match="would be written over") as refused:
        refuse_another(found, OURS, "~/.kube/lab-phase1")
    assert said in refused.value.what


@pytest.mark.parametrize("found", ["just words", "a: [", "- 1"])
def test_what_is_no_kubeconfig_is_left_alone_too(found):
    with pytest.raises(Refusal):
        refuse_another(found, OURS, "~/.kube/lab-phase1")
    with pytest.raises(Refusal):
        kubeconfig(found, "lab-phase1", "10.30.0.11")
