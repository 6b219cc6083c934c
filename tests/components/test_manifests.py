"""Every manifest of ours before a real API server, with upstream's own definitions: unknown keys are refused."""

import json
from collections.abc import Iterator

import pytest
from definitions import definitions

from components import certificates, kserve, monitoring, qdrant, storage
from components.base.component import namespace
from components.base.network import Rule, from_anyone, names, policy, scrapes, to_api, to_object_storage, to_outside
from components.gateway import objects as gateway
from components.gateway import quotas
from components.langfuse import stores as langfuse
from components.llm_d import lent as lent_picker
from components.llm_d import objects as router
from components.llm_d import pod as picker
from components.llm_d.picking import configuration
from components.postgres import backups
from components.postgres import objects as postgres
from components.vllm import lent as lent_engine
from components.vllm import members, pod, spread
from components.vllm.component import ways_to_weights
from components.vllm.weights import containers
from rackwright.errors import Refusal
from rackwright.observe.dashboards import dashboards
from rackwright.observe.rules import groups
from rackwright.sandbox.control_plane import ControlPlane
from rackwright.site import kserve_names
from rackwright.site.halves import Group
from rackwright.site.langfuse import Langfuse
from rackwright.site.models import Model
from rackwright.site.object_storage import ObjectStorage
from rackwright.site.postgresql import Backups
from rackwright.site.sources import Nfs

SPACES = ("certificates", "gateway", "langfuse", "models", "monitoring", "postgres", "qdrant", "router", "storage")


# Of projects whose definitions are large, those alone that are asked for.
ASKED_FOR = {"kserve": "*llminferenceservice*.yaml", "lws": "*leaderworkersets.yaml"}


@pytest.fixture(scope="module")
def judge(toolbox, say, upstream) -> Iterator[ControlPlane]:
    """An API server with upstream's definitions."""
    kinds = definitions(
        file
        for name in (
            "cert-manager",
            "cloudnative-pg",
            "plugin-barman-cloud",
            "prometheus-operator",
            "gateway-api-inference-extension",
            "llm-d-router",
            "kserve",
            "lws",
        )
        for file in sorted((upstream / "crds" / name).glob(ASKED_FOR.get(name, "*.yaml")))
    )
    with ControlPlane(toolbox, progress=say) as cluster:
        cluster.apply(kinds)
        names_of = [f"crd/{each['metadata']['name']}" for each in kinds]
        cluster.kubectl.wait_for(*names_of, condition="Established")
        cluster.apply(namespace(name, "restricted") for name in SPACES)
        yield cluster


def manifests(site, catalog) -> Iterator[tuple[str, dict]]:
    """All of a site's, each with its namespace."""
    cluster, hosts = site.cluster(1), site.hosts_in(1)
    yield "certificates", certificates.authority("x", "y")
    yield "certificates", certificates.issuer()
    yield from (("gateway", each) for each in of_gateway(site, catalog))
    yield from (("models", each) for each in of_models(site, catalog))
    yield from of_routing(site, catalog)
    yield from (("models", each) for each in of_kserve(site, catalog))
    yield from (("models", each) for each in of_groups(site, catalog))
    yield "monitoring", monitoring.administrator("x")
    yield "monitoring", monitoring.targets(hosts)
    yield "monitoring", monitoring.rules(groups(site, 1, catalog))
    yield "monitoring", monitoring.dashboards(dashboards())
    yield "postgres", postgres.cluster(site.postgresql, site.postgresql.phase1, image=catalog.images["postgresql"])
    yield "postgres", postgres.cluster(site.postgresql, site.postgresql.phase2, image=catalog.images["postgresql"])
    yield from (("postgres", postgres.database(each)) for each in site.postgresql.databases)
    yield from (("postgres", postgres.password(each, "x")) for each in postgres.owners(site.postgresql))
    yield "postgres", postgres.monitor(15)
    yield from (("postgres", each) for each in of_backups(site, catalog))
    yield from (("langfuse", each) for each in of_langfuse(catalog))
    yield "qdrant", qdrant.keys("x", "y", "z")
    yield "storage", storage.monitor(15)
    ways: list[Rule] = [names(), to_api(cluster, hosts), to_outside(["10.0.0.0/8"], 443)]
    yield "qdrant", policy("shut", ingress=[from_anyone(10250), scrapes(6333)], egress=ways)


def of_backups(site, catalog) -> Iterator[dict]:
    storage = ObjectStorage(endpoint="https://s3.lab.internal:9000", bucket="rackwright")
    asked = Backups(retention_days=14)
    yield backups.keys(storage, "x", "y")
    yield backups.store(storage, asked)
    yield backups.schedule(asked)
    yield postgres.cluster(
        site.postgresql,
        site.postgresql.phase2,
        image=catalog.images["postgresql"],
        plugins=backups.archiving(f"{site.name}-phase2"),
    )
    yield policy("backups", egress=[to_object_storage(storage)], pods={"cnpg.io/cluster": "postgres"})


def of_langfuse(catalog) -> Iterator[dict]:
    asked = Langfuse(size_gb=100)
    yield langfuse.configuration()
    yield langfuse.clickhouse(asked, image=catalog.images["clickhouse"], version="x")
    yield langfuse.valkey(asked, image=catalog.images["valkey"], version="x")
    yield from langfuse.services()


def of_gateway(site, catalog) -> Iterator[dict]:
    yield gateway.certificate(site.gateway, [site.hosts[0].address], certificates.ISSUER)
    yield gateway.configuration({"envoy.json": "{}"})
    yield gateway.deployment(site.gateway, image=catalog.images["envoy"], version="x")
    yield gateway.service(site.gateway)
    yield from (gateway.budget(), gateway.account(), gateway.monitor(15))
    yield quotas.deployment(image=catalog.images["ratelimit"], store=catalog.images["valkey"], version="x")
    yield from (quotas.configuration(site.tenants), quotas.service(), quotas.monitor(15))


def of_models(site, catalog) -> Iterator[dict]:
    images = {"engine": catalog.images["vllm"], "rclone": catalog.images["rclone"]}
    exported = Model.model_validate(
        site.models[0].model_dump() | {"name": "exported", "source": {"nfs": "nas.lab:/weights/m"}}
    )
    yield from pod.export(exported, Nfs(nfs="nas.lab:/weights/m"))
    for model, serving in (*site.models_in(1), (exported, site.models[0].phase1)):
        before = containers(model, **images, object_storage=site.object_storage)
        for spare in (0, 8):
            image = catalog.images["vllm"]
            yield pod.deployment(model, serving, image=image, before=before, gpu=site.gpu, spare=spare)
        yield from (pod.service(model), pod.claim(model, "nvme-models"), pod.monitor(model, 15))
        yield from ways_to_weights([model], site.object_storage, ["10.0.0.0/8"])


def of_routing(site, catalog) -> Iterator[tuple[str, dict]]:
    """What phase 2 has for a model: its engines on several hosts, and its pickers."""
    hosts = site.hosts_in(2, "inference")
    image = catalog.images["llm-d-router"]
    images = {"engine": catalog.images["vllm"], "rclone": catalog.images["rclone"]}
    for model, serving in site.models_in(2):
        before = containers(model, **images, object_storage=site.object_storage)
        told = configuration(model, site.routing)
        yield "models", spread.stateful_set(model, serving, image=images["engine"], before=before, gpu=site.gpu)
        yield "models", spread.priority_class(model.gpus)
        if limits := spread.budget(model, serving, hosts, site.gpu):
            yield "models", limits
        yield "models", router.pool(model, selector=pod.labels(model), port=8000)
        yield from (("models", each) for each in (*router.objectives(model), router.role(), router.binding("router")))
        yield "router", router.settings(model, told)
        yield "router", picker.stateful_set(model, image=image, configuration=told, engines_in="models")
        beside = (router.service(model), router.budget(model), router.account(), router.monitor(15))
        yield from (("router", each) for each in beside)


def of_groups(site, catalog) -> Iterator[dict]:
    """What each model would be if a replica took two hosts."""
    images = {"engine": catalog.images["vllm"], "rclone": catalog.images["rclone"]}
    for model, serving in site.models_in(2):
        whole = model.model_copy(update={"pipeline_parallel": 2})
        group = Group(whole, serving, model.name, hosts=2)
        before = containers(model, **images, object_storage=site.object_storage)
        for rdma in ("10.0.1.0/24", None):
            yield members.leader_worker_set(group, image=images["engine"], before=before, gpu=site.gpu, rdma=rdma)
        yield members.ways_among(model)


def of_kserve(site, catalog) -> Iterator[dict]:
    """What KServe is given for each model, were it to serve them all."""
    yield from kserve.presets()
    yield kserve.monitor(15)
    for model, serving in site.models_in(2):
        engine, picker = lent_pods(site, catalog, model, serving)
        told = configuration(model, site.routing)
        yield kserve.service(model, serving, engine=engine, picker=picker, told=told)
        yield from kserve.ways("gateway", [engine], [picker], to_api(site.cluster(2), site.hosts_in(2)))
        yield from router.objectives(model, kserve_names.pool(model.name))
        pods = kserve_names.engine_labels(model.name)
        yield from lent_engine.ways_of(model, site.object_storage, ["10.0.0.0/8"], pods=pods)


def lent_pods(site, catalog, model, serving) -> tuple[dict, dict]:
    images = {"engine": catalog.images["vllm"], "rclone": catalog.images["rclone"]}
    before = containers(model, **images, object_storage=site.object_storage)
    pods = kserve_names.engine_labels(model.name)
    engine = lent_engine.lent(model, serving, image=images["engine"], before=before, gpu=site.gpu, pods=pods)
    image = catalog.images["llm-d-router"]
    return engine, lent_picker.lent(kserve_names.pool(model.name), image=image, engines_in="models")


def test_the_api_server_takes_every_manifest_and_knows_every_key(site, catalog, judge):
    items = []
    for space, manifest in manifests(site, catalog):
        metadata = manifest["metadata"] | {
            "namespace": space,
            "name": f"{len(items)}-{manifest['metadata']['name']}"[:60],
        }
        items.append(manifest | {"metadata": metadata})
    bundle = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    # Strict: what is not in the schema is an error, and so is a pod that its namespace would not take.
    said = judge.kubectl("create", "--validate=strict", "--dry-run=server", "-f", "-", given=bundle)
    assert said.count("created (server dry run)") == len(items)


def test_pods_are_held_to_the_strictest_level(site, catalog, judge):
    """A Deployment or a set is taken whatever its pods are; the pods themselves would be refused."""
    for space, manifest in manifests(site, catalog):
        if manifest["kind"] not in {"Deployment", "StatefulSet"}:
            continue
        template = manifest["spec"]["template"]
        metadata = template["metadata"] | {"name": manifest["metadata"]["name"], "namespace": space}
        # Account, priority and claims of a set are not there in this test, and are asked for before the level.
        claims = [claim["metadata"]["name"] for claim in manifest["spec"].get("volumeClaimTemplates", [])]
        volumes = [*template["spec"].get("volumes", []), *({"name": each, "emptyDir": {}} for each in claims)]
        spec = template["spec"] | {"serviceAccountName": "default", "volumes": volumes}
        spec.pop("priorityClassName", None)
        alone = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
        said = judge.kubectl("create", "--dry-run=server", "-f", "-", given=json.dumps(alone))
        assert "created (server dry run)" in said


def test_pods_of_groups_are_held_to_it_as_well(site, catalog, judge):
    for manifest in of_groups(site, catalog):
        made = manifest["spec"].get("leaderWorkerTemplate", {})
        claims = [{"name": each["metadata"]["name"], "emptyDir": {}} for each in made.get("volumeClaimTemplates", [])]
        for template in (each for name, each in made.items() if name.endswith("Template")):
            spec = template["spec"] | {"serviceAccountName": "default"}
            spec["volumes"] = [*spec["volumes"], *claims]
            del spec["priorityClassName"]
            metadata = template["metadata"] | {"name": manifest["metadata"]["name"], "namespace": "models"}
            alone = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
            said = judge.kubectl("create", "--dry-run=server", "-f", "-", given=json.dumps(alone))
            assert "created (server dry run)" in said


def test_pods_that_kserve_makes_are_held_to_it_as_well(site, catalog, judge):
    for model, serving in site.models_in(2):
        engine, picker = lent_pods(site, catalog, model, serving)
        for name, given in (("engine", engine), ("picker", picker)):
            spec = {key: value for key, value in given.items() if key != "priorityClassName"}
            volumes = [
                {"name": each["name"], "emptyDir": {}} if "ephemeral" in each else each
                for each in spec.get("volumes", [])
            ]
            metadata = {"name": f"{model.name}-{name}", "namespace": "models"}
            told = spec | {"serviceAccountName": "default", "volumes": volumes}
            alone = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": told}
            assert "created (server dry run)" in judge.kubectl(
                "create", "--dry-run=server", "-f", "-", given=json.dumps(alone)
            )


def test_an_unknown_key_is_refused(catalog, example, judge):
    manifest = postgres.cluster(example.postgresql, example.postgresql.phase1, image=catalog.images["postgresql"])
    manifest["spec"]["enablePodDisruptionBudget"] = False
    manifest["metadata"]["namespace"] = "postgres"
    with pytest.raises(Refusal, match="enablePodDisruptionBudget"):
        judge.kubectl("create", "--validate=strict", "--dry-run=server", "-f", "-", given=json.dumps(manifest))
