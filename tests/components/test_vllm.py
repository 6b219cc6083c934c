"""A served model's objects: each rule that keeps an engine alive, looked for in what is emitted."""

from pathlib import Path

import pytest

from components.vllm.arguments import arguments, command, environment
from components.vllm.component import hub_tokens, upstream, ways_to_weights
from components.vllm.pod import claim, deployment, export, monitor, service, spare_gpus
from components.vllm.timing import DRAIN_S, LEAVE_S, startup_s
from components.vllm.weights import OBJECT_STORAGE, containers, model_folder
from rackwright.site.gpu_resources import requested
from rackwright.site.models import Model
from rackwright.site.serving import Serving
from rackwright.site.sources import Nfs

HERE = Path(__file__).parent


def known(name: str) -> set[str]:
    lines = (HERE / name).read_text().splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def model(**changes) -> Model:
    plain = {
        "name": "m",
        "source": {"hub": "Qwen/Qwen3-32B", "revision": "9216db5781bf21249d130ec9da846c4624c16137"},
        "architecture": "Qwen/Qwen3-32B",
        "precision": "bfloat16",
        "context_length": 8192,
    }
    return Model.model_validate(plain | changes)


@pytest.fixture
def pods(site, catalog):
    """Every model's Deployment of a sample."""
    served = site.models_in(1)
    spare = spare_gpus(served, site.hosts_in(1), site.gpu)
    made = []
    for each, serving in served:
        before = containers(
            each, engine=catalog.images["vllm"], rclone=catalog.images["rclone"], object_storage=site.object_storage
        )
        room = spare[requested(each, site.gpu)]
        manifest = deployment(each, serving, image=catalog.images["vllm"], before=before, gpu=site.gpu, spare=room)
        made.append((each, serving, manifest))
    return made


def test_the_pinned_engine_knows_every_flag_and_variable(site, catalog):
    assert catalog.images["vllm"].tag == "v0.30.0", "read the flags of the new version from its wheel"
    flags = known("vllm_v0_30_0_flags.txt")
    variables = known("vllm_v0_30_0_variables.txt")
    every = [*site.models, model(lora={"adapters": [{"name": "a", "hub": "o/a", "revision": "0" * 40}]})]
    for each in every:
        given = {flag.split("=")[0] for flag in arguments(each, Serving(replicas=1)) if flag.startswith("--")}
        assert given <= flags
        assert {name for name in environment(each) if name.startswith("VLLM_")} <= variables


def test_the_command_is_whole(pods):
    for each, serving, manifest in pods:
        engine = manifest["spec"]["template"]["spec"]["containers"][0]
        assert engine["command"][:3] == ["vllm", "serve", model_folder(each)]
        assert engine["command"] == command(each, serving)
        assert "args" not in engine
        for flag in (
            f"--max-num-seqs={each.sequences}",
            f"--max-model-len={each.context_length}",
            f"--tensor-parallel-size={each.tensor_parallel}",
            "--enable-prefix-caching",
            "--scheduling-policy=fcfs",
        ):
            assert flag in engine["command"]


def test_priority_and_parsers_and_adapters_are_said_only_where_they_are_wished():
    plain = arguments(model(), Serving(replicas=1))
    assert not [flag for flag in plain if "parser" in flag or "lora" in flag or "tool" in flag]
    rich = model(
        tool_call_parser="hermes",
        reasoning_parser="qwen3",
        kv_precision="fp8",
        lora={"adapters": [{"name": "law", "hub": "o/law", "revision": "0" * 40}], "rank": 64},
    )
    flags = arguments(rich, Serving(replicas=1, priority=True))
    assert {"--enable-auto-tool-choice", "--tool-call-parser=hermes", "--reasoning-parser=qwen3"} <= set(flags)
    assert {"--scheduling-policy=priority", "--kv-cache-dtype=fp8", "--max-lora-rank=64"} <= set(flags)
    assert flags[-2:] == ["--lora-modules", "law=/models/adapters/law/000000000000"]


def test_a_start_has_the_time_that_its_weights_take(pods):
    for each, _, manifest in pods:
        engine = manifest["spec"]["template"]["spec"]["containers"][0]
        startup = engine["startupProbe"]
        budget = startup["periodSeconds"] * startup["failureThreshold"]
        loading = each.weights_gib * 1.5
        assert budget >= loading + 600
        variables = {each["name"]: each["value"] for each in engine["env"]}
        assert int(variables["VLLM_ENGINE_READY_TIMEOUT_S"]) >= loading + 600
        assert budget >= int(variables["VLLM_ENGINE_READY_TIMEOUT_S"])
        assert manifest["spec"]["progressDeadlineSeconds"] > budget


def test_ready_is_asked_apart_from_alive(pods):
    for _, _, manifest in pods:
        engine = manifest["spec"]["template"]["spec"]["containers"][0]
        assert engine["readinessProbe"]["httpGet"] == {"path": "/v1/models", "port": "http"}
        assert engine["livenessProbe"]["httpGet"] == {"path": "/health", "port": "http"}
        assert engine["ports"] == [{"name": "http", "containerPort": 8000}]


def test_an_end_lets_requests_finish(pods):
    for _, _, manifest in pods:
        pod = manifest["spec"]["template"]["spec"]
        engine = pod["containers"][0]
        assert engine["lifecycle"]["preStop"]["sleep"]["seconds"] == LEAVE_S
        assert f"--shutdown-timeout={DRAIN_S}" in engine["command"]
        assert pod["terminationGracePeriodSeconds"] >= LEAVE_S + DRAIN_S + 15


def test_shared_memory_is_there_and_counted(pods):
    for each, _, manifest in pods:
        pod = manifest["spec"]["template"]["spec"]
        engine = pod["containers"][0]
        mounts = {mount["mountPath"]: mount["name"] for mount in engine["volumeMounts"]}
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        shared = volumes[mounts["/dev/shm"]]["emptyDir"]
        assert shared["medium"] == "Memory"
        assert gib(shared["sizeLimit"]) >= (2 if each.gpus > 1 else 1)
        assert gib(engine["resources"]["limits"]["memory"]) > gib(shared["sizeLimit"])
        assert gib(engine["resources"]["requests"]["memory"]) == each.memory_gib


def test_no_one_is_root_and_what_is_written_has_a_place(pods):
    for _, _, manifest in pods:
        pod = manifest["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["fsGroup"] == pod["securityContext"]["runAsUser"]
        assert pod["enableServiceLinks"] is False
        assert pod["automountServiceAccountToken"] is False
        engine = pod["containers"][0]
        variables = {each["name"]: each["value"] for each in engine["env"]}
        for name in ("HOME", "HF_HOME", "VLLM_CACHE_ROOT", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"):
            assert variables[name].startswith("/models/")
        assert variables["VLLM_NO_USAGE_STATS"] == "1"
        for container in (*pod["initContainers"], engine):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
            }
            assert container["resources"]["requests"]["cpu"]


def test_no_token_is_in_a_pod_but_by_name(site, pods):
    text = str([manifest for _, _, manifest in pods])
    tokens = hub_tokens(each for each, _ in site.models_in(1))
    assert text.count("HF_TOKEN") == sum(1 for each, _ in site.models_in(1) if getattr(each.source, "token", None))
    for token in tokens:
        assert f"'name': 'hub-{token.replace('_', '-')}', 'key': 'token'" in text
    for _, _, manifest in pods:
        engine = manifest["spec"]["template"]["spec"]["containers"][0]
        assert all("valueFrom" not in each for each in engine["env"]), "the engine itself needs none"


def test_a_rollout_never_waits_for_a_gpu_that_is_not_there(example, catalog):
    def strategy(spare, replicas):
        made = deployment(
            model(tensor_parallel=2), Serving(replicas=replicas), image=catalog.images["vllm"], before=[],
            gpu=example.gpu, spare=spare,
        )  # fmt: skip
        return made["spec"]["strategy"]

    assert strategy(0, 1) == {"type": "Recreate"}
    assert strategy(1, 1) == {"type": "Recreate"}
    assert strategy(0, 2)["rollingUpdate"] == {"maxSurge": 0, "maxUnavailable": 1}
    assert strategy(2, 1)["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}


def test_spare_gpus_are_what_no_replica_takes(example, lab):
    assert spare_gpus(example.models_in(1), example.hosts_in(1), example.gpu) == {"nvidia.com/gpu": 0}
    turns = lab.gpu.model_copy(update={"time_slices": 2})
    assert spare_gpus(lab.models_in(1), lab.hosts_in(1), turns) == {"nvidia.com/gpu": 8}


def test_another_revision_lies_in_another_folder():
    other = model(source={"hub": "Qwen/Qwen3-32B", "revision": "1" * 40})
    assert model_folder(other) != model_folder(model())
    assert model_folder(model(source={"local": "llama"})) == "/models/llama"


def test_each_kind_of_source_has_its_way(lab, catalog):
    images = {"engine": catalog.images["vllm"], "rclone": catalog.images["rclone"]}

    def steps(source, **changes):
        found = containers(model(source=source, **changes), **images, object_storage=lab.object_storage)
        return {step["name"]: step for step in found}

    assert list(steps({"local": "llama"})) == ["check"]
    assert list(steps({"hub": "o/m", "revision": "1" * 40})) == ["download", "check"]
    s3 = steps({"s3": "weights/m"})
    assert list(s3) == ["copy", "check"]
    assert s3["copy"]["command"][-2:-1] == [f"site:{lab.object_storage.bucket}/weights/m"]
    secret = [each for each in s3["copy"]["env"] if "valueFrom" in each]
    assert {each["valueFrom"]["secretKeyRef"]["name"] for each in secret} == {OBJECT_STORAGE}
    nfs = steps({"nfs": "nas.lab:/weights/m"})
    assert {mount["mountPath"] for mount in nfs["copy"]["volumeMounts"]} == {"/models", "/source", "/tmp"}
    adapters = {"adapters": [{"name": "a", "hub": "o/a", "revision": "0" * 40}]}
    assert list(steps({"s3": "weights/m"}, lora=adapters)) == ["copy", "download", "check"]
    with pytest.raises(ValueError, match="object storage"):
        containers(model(source={"s3": "x"}), **images)


def test_only_the_engine_sees_gpus(pods):
    """NVIDIA's runtime, the default one here, gives all of them to an image that says so, as the engine's does."""
    for _, _, manifest in pods:
        pod = manifest["spec"]["template"]["spec"]
        for each in pod["initContainers"]:
            assert {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"} in each["env"]
        assert "NVIDIA_VISIBLE_DEVICES" not in str(pod["containers"])  # the device plugin's affair


def test_pods_may_go_only_where_their_weights_are(lab):
    inside = ["10.30.0.0/24"]
    hub = model()
    s3 = model(source={"s3": "weights/m"})
    (way,) = ways_to_weights([hub], None, inside)
    assert way["spec"]["podSelector"] == {"matchLabels": {"rackwright/from-hub": "true"}}
    (rule,) = way["spec"]["egress"]
    assert rule["ports"] == [{"protocol": "TCP", "port": 443}]
    assert "10.30.0.0/24" in rule["to"][0]["ipBlock"]["except"]
    assert "169.254.0.0/16" in rule["to"][0]["ipBlock"]["except"]
    (way,) = ways_to_weights([s3], lab.object_storage, inside)
    assert way["spec"]["podSelector"] == {"matchLabels": {"rackwright/from-s3": "true"}}
    assert ways_to_weights([model(source={"local": "m"})], lab.object_storage, inside) == []


def test_an_export_is_bound_to_its_model():
    nfs = model(source={"nfs": "nas.lab:/weights/m"})
    volume, wish = export(nfs, Nfs(nfs="nas.lab:/weights/m"))
    assert volume["spec"]["nfs"] == {"server": "nas.lab", "path": "/weights/m", "readOnly": True}
    assert wish["spec"]["volumeName"] == volume["metadata"]["name"] == "m-source"
    assert wish["spec"]["storageClassName"] == ""


def test_names_fit_together(pods):
    for each, _, manifest in pods:
        labels = manifest["spec"]["template"]["metadata"]["labels"]
        for selector in (
            manifest["spec"]["selector"]["matchLabels"],
            service(each)["spec"]["selector"],
            monitor(each, 15)["spec"]["selector"]["matchLabels"],
        ):
            assert selector.items() <= labels.items()
        assert monitor(each, 15)["spec"]["podMetricsEndpoints"][0]["port"] == "http"
        assert service(each)["spec"]["clusterIP"] == "None"
        assert upstream(each, "models") == f"{service(each)['metadata']['name']}.models.svc.cluster.local:8000"
        assert claim(each, "nvme-models")["metadata"]["name"] == each.name


def test_a_start_takes_longer_with_more_to_load():
    assert startup_s(model()) < startup_s(model(architecture="meta-llama/Llama-3.3-70B"))


def gib(quantity: str) -> int:
    assert quantity.endswith("Gi")
    return int(quantity.removesuffix("Gi"))
