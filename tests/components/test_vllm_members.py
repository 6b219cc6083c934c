"""A replica on several hosts: what each of its pods is told, how long one waits for another, and what goes with it."""

import socket
import threading
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from test_vllm import known

from components.vllm import stay_joined
from components.vllm.arguments import environment
from components.vllm.members import MEETING_PORT, answering, group_budget, leader_worker_set, ways_among
from components.vllm.pod import labels, monitor, service
from components.vllm.timing import DRAIN_S, LEAVE_S, STARTUP_PERIOD_S, startup_s
from components.vllm.weights import containers
from rackwright.site.halves import hosts_of_a_replica
from rackwright.site.lws_names import INDEX
from rackwright.site.rdma_ports import RESOURCE
from rackwright.site.serving import Serving
from rackwright.site.site import Site
from rackwright.site.spans import spanning

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def rack():
    return Site.load(HERE.parents[1] / "tests" / "fixtures" / "valid" / "spanning.yml")


@pytest.fixture(scope="module")
def group(rack):
    (found,) = spanning(rack)
    return found


@pytest.fixture
def lay(rack, catalog, group):
    """The set, over RDMA or over the pods' network."""
    images = {"engine": catalog.images["vllm"], "rclone": catalog.images["rclone"]}
    before = containers(group.model, **images, object_storage=rack.object_storage)
    return lambda rdma="10.0.1.0/24": leader_worker_set(
        group, image=catalog.images["vllm"], before=before, gpu=rack.gpu, rdma=rdma, counted=True
    )["spec"]


def pods(spec) -> tuple[dict, dict]:
    made = spec["leaderWorkerTemplate"]
    return made["leaderTemplate"]["spec"], made["workerTemplate"]["spec"]


def engine(pod) -> dict:
    (found,) = pod["containers"]
    return found


def variables(pod) -> dict[str, str]:
    return {each["name"]: each.get("value", "") for each in engine(pod)["env"]}


@pytest.mark.parametrize(
    ("tensor", "pipeline", "rooms", "hosts"),
    [
        (4, 2, [8, 8], 1),
        (8, 2, [8, 8, 8], 2),
        (8, 4, [8, 8, 8, 8], 4),
        (8, 4, [16, 16], 2),
        (4, 4, [8, 4, 4, 4], 4),  # one host alone could hold two stages
        (8, 3, [16, 16], None),  # three stages are not divided by two
        (8, 2, [8], None),
        (16, 1, [8, 8], None),  # no layer is shared over hosts
    ],
)
def test_a_replica_takes_as_few_hosts_as_hold_whole_stages(group, tensor, pipeline, rooms, hosts):
    model = group.model.model_copy(update={"tensor_parallel": tensor, "pipeline_parallel": pipeline})
    assert hosts_of_a_replica(model, rooms) == hosts


def test_each_pod_takes_its_part_and_the_group_the_whole(group, lay):
    spec = lay()
    assert spec["leaderWorkerTemplate"]["size"] == group.hosts == 2
    assert group.part.gpus * group.hosts == group.model.gpus == 16
    for pod in pods(spec):
        resources = engine(pod)["resources"]
        assert {each["nvidia.com/gpu"] for each in resources.values()} == {"8"}
        assert resources["requests"]["memory"] == f"{group.part.memory_gib}Gi"
        assert pod["nodeSelector"] == {"rackwright/inference": "true"}
        assert pod["priorityClassName"] == "rackwright-replica-8"


def test_one_leads_and_answers_and_the_others_follow_without_a_door(lay):
    leads, follows = pods(lay())
    words, others = engine(leads)["command"], engine(follows)["command"]
    assert [*words, "--headless"] == others
    assert {
        "--nnodes=2", "--node-rank=$(LWS_WORKER_INDEX)", "--master-addr=$(LWS_LEADER_ADDRESS)",
        "--tensor-parallel-size=8", "--pipeline-parallel-size=2", "--distributed-executor-backend=mp",
    } <= set(words)  # fmt: skip
    assert engine(leads)["ports"] == [{"name": "http", "containerPort": 8000}]
    assert "ports" not in engine(follows)
    assert not [key for key in engine(follows) if key.endswith("Probe")]


def test_the_pinned_engine_knows_every_flag_and_variable(lay):
    flags, names = known("vllm_v0_30_0_flags.txt"), known("vllm_v0_30_0_variables.txt")
    for pod in pods(lay()):
        assert {word.split("=")[0] for word in engine(pod)["command"] if word.startswith("--")} <= flags
        assert {name for name in variables(pod) if name.startswith("VLLM_")} <= names


def test_stages_hand_on_by_rdma_where_every_host_has_it_and_by_the_pods_network_else(lay):
    for pod in pods(lay()):
        assert {each[RESOURCE] for each in engine(pod)["resources"].values()} == {"1"}
        assert variables(pod)["NCCL_IB_TC"] == "106"
        assert variables(pod)["NCCL_IB_ADDR_RANGE"] == "10.0.1.0/24"
        assert "NCCL_IB_DISABLE" not in variables(pod)
    for pod in pods(lay(rdma=None)):
        assert RESOURCE not in engine(pod)["resources"]["limits"]
        assert variables(pod)["NCCL_IB_DISABLE"] == "1"


def test_a_start_has_the_time_that_one_host_s_part_takes(group, lay):
    probe = engine(pods(lay())[0])["startupProbe"]
    budget_s = probe["periodSeconds"] * probe["failureThreshold"]
    assert budget_s == startup_s(group.model, 2) == int(environment(group.part, 2)["VLLM_ENGINE_READY_TIMEOUT_S"])
    assert startup_s(group.model, 2) < startup_s(group.model)
    assert budget_s % STARTUP_PERIOD_S == 0


def test_a_group_is_made_anew_as_a_whole_in_place_and_only_once_all_were_there(lay):
    spec = lay()
    assert spec["leaderWorkerTemplate"]["restartPolicy"] == "RecreateGroupAfterStart"
    rolled = spec["rolloutStrategy"]["rollingUpdateConfiguration"]
    assert rolled == {"partition": 0, "maxUnavailable": 1, "maxSurge": 0}
    # A name that leads to a pod before it is ready: it is ready when those that look for it have come.
    assert spec["networkConfig"] == {"subdomainPolicy": "UniquePerReplica"}
    assert spec["startupPolicy"] == "LeaderCreated"


def test_each_pod_has_all_weights_on_a_volume_of_its_own(group, lay):
    spec = lay()["leaderWorkerTemplate"]
    (claim,) = spec["volumeClaimTemplates"]
    assert claim["spec"]["resources"]["requests"]["storage"] == f"{group.model.volume_gib}Gi"
    assert spec["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": "Retain", "whenScaled": "Delete"}
    for template in (spec["leaderTemplate"], spec["workerTemplate"]):
        assert claim["metadata"]["name"] not in {each["name"] for each in template["spec"]["volumes"]}
        assert [each["name"] for each in template["spec"]["initContainers"]] == ["download", "check"]


def test_those_that_answer_are_found_and_no_others(group, lay):
    model = group.model
    selected = service(model, answering(model))["spec"]["selector"]
    assert selected == monitor(model, 15, answering(model))["spec"]["selector"]["matchLabels"]
    assert selected == labels(model) | {INDEX: "0"}
    for template in ("leaderTemplate", "workerTemplate"):
        # The controller adds the index itself.
        assert labels(model).items() <= lay()["leaderWorkerTemplate"][template]["metadata"]["labels"].items()


def test_pods_of_a_model_reach_each_other_at_any_port_and_nobody_else(group):
    spec = ways_among(group.model)["spec"]
    assert spec["podSelector"]["matchLabels"] == labels(group.model)
    (into,), (out,) = spec["ingress"], spec["egress"]
    assert into["from"] == out["to"] == [{"podSelector": {"matchLabels": labels(group.model)}}]
    assert "ports" not in into
    assert "ports" not in out


def test_a_drain_takes_one_host_and_with_it_one_replica_and_a_lone_one_goes(group):
    of_two = group_budget(replace(group, serving=Serving(replicas=2)))["spec"]
    assert of_two["maxUnavailable"] == 1
    assert of_two["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
    assert group_budget(group)["spec"]["maxUnavailable"] == group.hosts


def test_those_that_follow_outlast_the_one_that_leads(lay):
    leads, follows = pods(lay())
    program, _, script, port, most = engine(follows)["lifecycle"]["preStop"]["exec"]["command"]
    assert program == "python3"
    assert script == Path(stay_joined.__file__).read_text()
    assert int(port) == MEETING_PORT
    assert int(most) > LEAVE_S + DRAIN_S
    assert follows["terminationGracePeriodSeconds"] > max(int(most), leads["terminationGracePeriodSeconds"])


def test_who_is_joined_stays_until_the_other_end_goes():
    with closing(socket.create_server(("127.0.0.1", 0))) as leader:
        port = leader.getsockname()[1]
        assert not stay_joined.joined(port)
        with closing(socket.create_connection(("127.0.0.1", port))):
            other, _ = leader.accept()
            assert stay_joined.joined(port)
            began = time.monotonic()
            stay_joined.main(port, 0.2)  # and no longer than it may
            assert time.monotonic() - began >= 0.2
            threading.Timer(0.2, other.close).start()
            stay_joined.main(port, 20)
            assert time.monotonic() - began < 10


def test_a_machine_without_ipv6_has_one_table(tmp_path):
    head = "  sl  local_address rem_address   st\n"
    row = f"   0: 0100007F:0016 0200007F:{MEETING_PORT:04X} 01 0\n"
    (tmp_path / "tcp").write_text(head + row)
    assert stay_joined.joined(MEETING_PORT, tmp_path)
    (tmp_path / "tcp").write_text(head + row.replace(" 01 ", " 08 "))  # the other end has closed
    assert not stay_joined.joined(MEETING_PORT, tmp_path)


def test_a_group_of_one_host_is_the_model_itself(group):
    assert replace(group, hosts=1).part is group.model
