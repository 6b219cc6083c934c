"""Replicas over several hosts: where they go, what a drain may take, and that no rollout wants a GPU more."""

import pytest
from test_vllm import known, model

from components.vllm.arguments import BLOCK_TOKENS, arguments
from components.vllm.pod import labels, service
from components.vllm.spread import budget, priority_class, stateful_set
from components.vllm.weights import containers
from rackwright.site.gpu_resources import requested
from rackwright.site.node_marks import labels as marks
from rackwright.site.serving import Serving

RECURRENT = {"architecture": "Qwen/Qwen3-Next-80B-A3B"}


@pytest.fixture
def sets(lab, catalog):
    """Every model's set in the sample that has a second phase."""
    images = {"engine": catalog.images["vllm"], "rclone": catalog.images["rclone"]}
    return [
        (
            each,
            serving,
            stateful_set(
                each, serving, image=catalog.images["vllm"], gpu=lab.gpu,
                before=containers(each, **images, object_storage=lab.object_storage),
            ),
        )
        for each, serving in lab.models_in(2)
    ]  # fmt: skip


def test_the_pinned_engine_knows_every_flag(lab):
    flags = known("vllm_v0_30_0_flags.txt")
    for each, serving in lab.models_in(2):
        given = {flag.split("=")[0] for flag in arguments(each, serving, routed=True, counted=True)}
        assert "--enable-force-include-usage" in given
        assert given <= flags


def test_blocks_are_those_that_the_router_reckons_with_where_the_model_leaves_the_choice():
    plain = Serving(replicas=1)
    assert f"--block-size={BLOCK_TOKENS}" in arguments(model(), plain, routed=True)
    assert not [flag for flag in arguments(model(), plain) if "block-size" in flag]
    for name in ("Qwen/Qwen3-Next-80B-A3B", "deepseek-ai/DeepSeek-V3"):
        other = model(architecture=name, precision=model(architecture=name).shape.native_precision)
        assert other.shape.recurrent or other.shape.latent
        assert not [flag for flag in arguments(other, plain, routed=True) if "block-size" in flag]


def test_pods_stand_on_inference_hosts_and_prefer_to_stand_apart(lab, sets):
    for each, _, manifest in sets:
        pod = manifest["spec"]["template"]["spec"]
        for host in lab.hosts_in(2):
            may = pod["nodeSelector"].items() <= marks(host).items()
            assert may == ("inference" in host.roles), host.name
        (spread,) = pod["topologySpreadConstraints"]
        assert spread["whenUnsatisfiable"] == "ScheduleAnyway"
        assert spread["labelSelector"]["matchLabels"] == labels(each)
        rules = pod["affinity"]["podAntiAffinity"]
        assert list(rules) == ["preferredDuringSchedulingIgnoredDuringExecution"]


def test_each_replica_has_weights_of_its_own(sets):
    for each, serving, manifest in sets:
        spec = manifest["spec"]
        (claim,) = spec["volumeClaimTemplates"]
        assert claim["spec"]["resources"]["requests"]["storage"] == f"{each.volume_gib}Gi"
        mounted = {mount["name"] for mount in spec["template"]["spec"]["containers"][0]["volumeMounts"]}
        volumes = {volume["name"] for volume in spec["template"]["spec"]["volumes"]}
        assert claim["metadata"]["name"] in mounted
        assert claim["metadata"]["name"] not in volumes
        assert mounted <= volumes | {claim["metadata"]["name"]}
        assert spec["replicas"] == serving.replicas
        assert spec["serviceName"] == service(each)["metadata"]["name"]


def test_a_rollout_replaces_in_place_and_priority_is_said(sets):
    for _, serving, manifest in sets:
        assert manifest["spec"]["updateStrategy"] == {"type": "RollingUpdate"}  # a set never makes a pod beside another
        words = manifest["spec"]["template"]["spec"]["containers"][0]["command"]
        assert serving.priority
        assert "--scheduling-policy=priority" in words


def test_a_drain_may_take_all_that_one_host_can_hold_and_no_more(lab):
    hosts = lab.hosts_in(2, "inference")
    assert budget(model(tensor_parallel=4), Serving(replicas=4), hosts, lab.gpu)["spec"]["maxUnavailable"] == 2
    assert budget(model(tensor_parallel=8), Serving(replicas=3), hosts, lab.gpu)["spec"]["maxUnavailable"] == 1
    assert budget(model(tensor_parallel=2), Serving(replicas=4), hosts, lab.gpu) is None
    assert budget(model(), Serving(replicas=1), hosts, lab.gpu) is None


def test_larger_replicas_are_placed_first_and_evict_nobody(lab, sets):
    classes = {each["metadata"]["name"]: each for each in map(priority_class, (2, 4))}
    order = {
        manifest["spec"]["template"]["spec"]["priorityClassName"]: int(
            manifest["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"][requested(each, lab.gpu)]
        )
        for each, _, manifest in sets
    }
    assert set(order) == set(classes)
    by_value = sorted(order, key=lambda name: classes[name]["value"])
    assert [order[name] for name in by_value] == sorted(order.values())
    assert {each["preemptionPolicy"] for each in classes.values()} == {"Never"}
