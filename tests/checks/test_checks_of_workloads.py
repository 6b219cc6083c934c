"""Checks of pods, DaemonSets, images and probes, each made to fail on a real control plane."""

import pytest
from broken_objects import deployment, until

from rackwright.checks.readiness import why_not


def test_a_pod_that_no_node_takes_is_told_with_the_schedulers_reason(platform):
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "stuck", "namespace": "monitoring"},
        "spec": {"containers": [{"name": "main", "image": "example.org/a:1"}], "nodeSelector": {"no": "where"}},
    }
    with platform.added(pod):
        said = "nodes are available"
        found = until(
            lambda: [each for each in platform.failures("pods") if said in each.what and "stuck" in each.where]
        )
    (fault,) = found
    assert fault.where == "Pod monitoring/stuck"
    assert "didn't match Pod's node affinity/selector" in fault.what


def test_a_deployment_that_the_namespace_refuses_is_told_with_the_reason(platform):
    with platform.added(deployment("privileged", replicas=1, securityContext={"privileged": True})):
        (fault,) = until(lambda: [each for each in platform.failures("pods") if "violates" in each.what])
    assert "has 0 of 1 pods ready" in fault.what
    assert "privileged" in fault.what


def test_a_daemon_set_that_finds_no_node_is_told(platform):
    patch = {"spec": {"template": {"spec": {"nodeSelector": {"no": "where"}}}}}
    with platform.changed("daemonset", "topolvm-node", "storage", patch):
        faults = until(lambda: platform.failures("daemons"))
    assert [each.where for each in faults] == ["DaemonSet storage/topolvm-node"]
    assert until(lambda: not platform.failures("pods"))


@pytest.mark.parametrize(
    ("image", "said"),
    [
        ("example.org/a", "another one tomorrow"),
        ("example.org/a:latest", "another one tomorrow"),
        ("example.org/lws:main", "another one tomorrow"),
        ("", "names none"),
        ("UPPER/case:1", "names none"),
    ],
)
def test_an_image_that_is_not_pinned_is_told(platform, image, said):
    with platform.added(deployment("unpinned", image=image) if image else deployment("unpinned", image=" ")):
        (fault,) = platform.failures("images")
    assert said in fault.what


def test_an_image_of_the_catalogs_at_another_version_is_told(platform):
    image = platform.catalog.images["vllm"]
    with platform.added(deployment("older", image=f"{image.repository}:v0.0.1")):
        (fault,) = platform.failures("images")
    assert image.reference in fault.what


def test_a_probe_of_a_port_that_is_not_there_is_told(platform):
    wrong = {"ports": [{"name": "http", "containerPort": 80}], "readinessProbe": {"httpGet": {"port": "htpp"}}}
    with platform.added(deployment("probed", **wrong)):
        (fault,) = platform.failures("probes")
    assert "readinessProbe asks the port htpp" in fault.what
    assert "http" in fault.cure


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ({"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/1 nodes"}]}, "0/1 nodes"),
        (
            {
                "containerStatuses": [
                    {"name": "a", "state": {"waiting": {"reason": "ErrImagePull", "message": "denied"}}}
                ]
            },
            "container a: ErrImagePull denied",
        ),
        (
            {"initContainerStatuses": [{"name": "b", "state": {"terminated": {"exitCode": 2}}}]},
            "container b ended with 2",
        ),
        (
            {
                "containerStatuses": [{"name": "a", "state": {"waiting": {"reason": "PodInitializing"}}}],
                "phase": "Pending",
            },
            "Pending",
        ),
        ({}, "None"),
    ],
)
def test_the_reason_why_a_pod_is_not_ready_is_the_keepers_own(status, said):
    assert said in why_not({"status": status})
