"""What KServe's controller is given: what ours would be, in its words, and nothing that it would read as a template."""

import json
import re

import pytest
from test_manifests import lent_pods
from test_vllm import model

from components import kserve
from components.kserve import PRESETS, origin, port, presets, values, ways
from components.llm_d.picking import configuration
from components.llm_d.pod import arguments as picker_arguments
from components.vllm.lent import ways_of
from components.vllm.pod import engine as our_engine
from components.vllm.spread import stateful_set
from rackwright.site import kserve_names
from rackwright.site.serving import Serving


@pytest.fixture
def services(lab, catalog):
    """Each model of the sample with a second phase, were KServe to serve it."""
    made = []
    for each, serving in lab.models_in(2):
        engine, picker = lent_pods(lab, catalog, each, serving)
        told = configuration(each, lab.routing)
        made.append((each, serving, kserve.service(each, serving, engine=engine, picker=picker, told=told)))
    return made


def test_the_version_that_is_written_is_the_stored_one(services, catalog):
    for _, _, service in services:
        assert service["apiVersion"] == catalog.kserve.service_api
    for preset in presets():
        assert preset["apiVersion"] == catalog.kserve.service_api


def test_nothing_opens_a_template(services):
    """KServe runs a whole service through Go's templates: what opens one would be read as such."""
    assert not [service for _, _, service in services if "{{" in json.dumps(service)]


def empty(part: object) -> bool:
    """Whether a map or a list in it holds nothing."""
    parts = part.values() if isinstance(part, dict) else part if isinstance(part, list) else None
    return parts is not None and (not parts or any(map(empty, parts)))


def test_nothing_is_empty(services):
    """The API server keeps no empty map of a custom resource as it was given, and Pulumi would differ for ever."""
    assert empty({"a": [{"b": {}}]})
    assert not [each for each in [*(service for _, _, service in services), *presets()] if empty(each)]


def test_presets_are_those_that_the_pinned_release_looks_for():
    """pkg/controller/v1alpha2/llmisvc/config_merge.go: one for pods on one host, one for the picker."""
    assert set(PRESETS) == {"kserve-config-llm-template", "kserve-config-llm-scheduler"}


def test_the_engine_is_ours_but_for_its_name(services, lab, catalog):
    for each, _, service in services:
        (engine,) = service["spec"]["template"]["containers"]
        ours = our_engine(each, engine["command"], catalog.images["vllm"], lab.gpu)
        assert engine == ours | {"name": "main"}


def test_an_engine_stands_where_ours_would(services, lab, catalog):
    for each, serving, service in services:
        given = service["spec"]["template"]
        ours = stateful_set(each, serving, image=catalog.images["vllm"], before=[], gpu=lab.gpu)["spec"]["template"]
        for key in ("nodeSelector", "priorityClassName", "securityContext", "tolerations", "serviceAccountName",
                    "enableServiceLinks", "terminationGracePeriodSeconds"):  # fmt: skip
            assert given[key] == ours["spec"][key]
        (apart,) = given["topologySpreadConstraints"]
        assert apart["labelSelector"]["matchLabels"] == kserve_names.engine_labels(each.name)


def test_weights_come_by_our_containers_onto_a_volume_of_the_pod_s_own(services):
    for each, _, service in services:
        spec = service["spec"]["template"]
        assert [container["name"] for container in spec["initContainers"]][-1] == "check"
        (kept,) = [volume for volume in spec["volumes"] if "ephemeral" in volume]
        wish = kept["ephemeral"]["volumeClaimTemplate"]["spec"]
        assert wish["resources"]["requests"]["storage"] == f"{each.volume_gib}Gi"
        assert wish["storageClassName"] == "nvme-models"
        mounted = {mount["name"] for mount in spec["containers"][0]["volumeMounts"]}
        assert kept["name"] in mounted <= {volume["name"] for volume in spec["volumes"]}
    assert PRESETS["kserve-config-llm-template"] == {"storageInitializer": {"enabled": False}}


def test_a_pod_that_fetches_is_let_out_by_the_labels_of_its_maker(services, lab):
    """Others it may not have: they would be in its maker's selector, which can never be changed."""
    for each, _, service in services:
        assert "labels" not in service["spec"]
        pods = kserve_names.engine_labels(each.name)
        (way,) = ways_of(each, lab.object_storage, ["10.0.0.0/8"], pods=pods)
        assert way["metadata"]["name"] == f"{each.name}-object-storage"
        assert way["spec"]["podSelector"]["matchLabels"] == pods
    (way,) = ways_of(model(), None, ["10.0.0.0/8"], pods=kserve_names.engine_labels("m"))
    assert way["metadata"]["name"] == "m-hub"


def test_the_picker_is_told_what_ours_is_told_of_another_pool(services):
    for each, _, service in services:
        scheduler = service["spec"]["router"]["scheduler"]
        (picker,) = scheduler["template"]["containers"]
        ours = {
            word for word in picker_arguments(each, "models") if not word.startswith(("--pool-name=", "--config-file="))
        }
        assert ours | {f"--pool-name={kserve_names.pool(each.name)}"} == set(picker["command"][1:])
        assert picker["name"] == "main"  # to which the configuration is added
        assert "args" not in picker
        assert scheduler["config"]["inline"]["kind"] == "EndpointPickerConfig"


def test_the_pool_holds_what_the_selector_of_the_deployment_holds(services):
    for each, _, service in services:
        pool = service["spec"]["router"]["scheduler"]["pool"]["spec"]
        assert pool["selector"]["matchLabels"] == kserve_names.engine_labels(each.name)
        assert pool["targetPorts"] == [{"number": 8000}]
        assert pool["endpointPickerRef"]["port"] == {"number": 9002}


def test_ways_are_named_and_no_more(services):
    engine = services[0][2]["spec"]["template"]
    picker = services[0][2]["spec"]["router"]["scheduler"]["template"]
    pickers, engines = ways("gateway", [engine], [picker], {"to": []})
    assert pickers["spec"]["podSelector"]["matchLabels"] == kserve_names.every_picker()
    assert [[one["port"] for one in way["ports"]] for way in pickers["spec"]["ingress"]] == [[9002], [9090]]
    assert engines["spec"]["podSelector"]["matchLabels"] == kserve_names.every_engine()
    (way,) = engines["spec"]["ingress"]
    assert way["from"] == [{"podSelector": {"matchLabels": kserve_names.every_picker()}}]


def test_where_weights_come_from_is_said():
    assert origin(model()).startswith("hf://Qwen/Qwen3-32B:")
    assert origin(model(source={"s3": "weights/m"})) == "s3://weights/m"
    assert origin(model(source={"nfs": "nas.lab:/weights/m"})) == "nfs://nas.lab:/weights/m"
    assert origin(model(source={"local": "m"})) == "file://m"


@pytest.mark.parametrize("replicas", range(1, 9))
def test_a_rollout_is_reckoned_as_the_api_server_rounds_it(replicas):
    """A quarter may be made beside the others, rounded up, and a quarter be away, rounded down (apps/v1)."""
    serving = Serving(replicas=replicas, through="kserve")
    assert serving.beside == -(-replicas * 25 // 100)
    assert serving.waits_for_room == (replicas * 25 // 100 == 0)
    assert not Serving(replicas=replicas).beside
    assert not Serving(replicas=replicas).waits_for_room


def test_names_are_those_that_the_release_makes():
    longest = "m" * kserve_names.LONGEST
    for name in (kserve_names.engines, kserve_names.picker, kserve_names.picker_service, kserve_names.pool):
        assert len(name(longest)) <= 63


def test_a_port_is_found_by_its_name():
    pod = {"containers": [{"ports": [{"name": "a", "containerPort": 1}, {"name": "b", "containerPort": 2}]}]}
    assert port(pod, "b") == 2


def test_the_chart_brings_no_kinds_of_the_router_s():
    told = values()["kserve"]["llmisvc"]
    assert told["createGIECRDs"] is False
    assert re.fullmatch(r"\d+Gi", told["controller"]["resources"]["limits"]["memory"])
