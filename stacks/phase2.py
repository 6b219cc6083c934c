"""Phase 2: several servers, kubeadm, the whole platform, and what only a cluster has: a router and pools."""

import pulumi

from components.certificates import ISSUER
from components.gateway import Gateway
from components.leader_worker_sets import LeaderWorkerSets
from components.llm_d import Router
from components.mlflow import Mlflow
from components.rdma import Rdma
from components.vllm import Vllm
from rackwright.site.moving import least_tokens
from rackwright.site.spans import spanning, users_of_rdma
from stacks.foundation import found
from stacks.given import Given
from stacks.pools import pools
from stacks.records import traces, tracking
from stacks.through_kserve import kserve, their_pods, their_pools


def grouping(given: Given) -> pulumi.Resource | None:
    """The controller of groups, where a model's replica takes several hosts."""
    if not spanning(given.site):
        return None
    chart, image = given.charts["lws"], given.catalog.images["lws-controller"]
    return LeaderWorkerSets("groups", chart=chart, image=image, to_api=given.to_api, opts=given.options).installed


def lay(given: Given) -> None:
    """Register everything; what waits for what is said by what one component is given of another."""
    site, images, secrets = given.site, given.catalog.images, given.secrets
    served = site.models_in(2)
    groups = site.groups_in(2)
    moved = least_tokens(site)
    ground = found(given)
    rdma = users_of_rdma(site)
    if rdma:
        Rdma("rdma", given.servers, image=images["rdma-shared-device-plugin"], opts=given.options)

    # fmt: off
    models = Vllm("models", [(each.model, each.serving) for each in groups], image=images["vllm"],
                  rclone=images["rclone"], gpu=site.gpu, spread=True, door=images["llm-d-disagg-sidecar"],
                  groups={each.model.name: each for each in groups}, rdma=rdma, grouped_by=grouping(given),
                  counted=given.counts_tokens, hosts=given.servers, secrets=secrets, object_storage=site.object_storage,
                  inside=given.inside, callers=["gateway", "router"], made_elsewhere=their_pods(served),
                  **ground.kept, **ground.watched, opts=given.options)
    router = Router("router", site.routing, image=images["llm-d-router"], models=[model for model, _ in served],
                    upstreams=models.upstreams, engines=models.engines, engines_in=models.name, beside=models.namespace,
                    caller="gateway", to_api=given.to_api, least_tokens=moved,
                    made_elsewhere=their_pools(served), **ground.watched, opts=given.options)
    pickers = router.pickers | kserve(given, ground, served, models, router)
    gateway = Gateway("gateway", site.gateway, image=images["envoy"], tenants=site.tenants, keys=secrets,
                      upstreams=models.upstreams, models_in=models.name, nodes=len(given.hosts), issuer=ISSUER,
                      address=site.door(2), address_moves=True, issuers=ground.certificates.issuer,
                      divided=moved, by_priority=[model.name for model, serving in served if serving.priority],
                      pickers=pickers, pickers_in=[router.name, *([models.name] if models.lent else [])],
                      quota_images=(images["ratelimit"], images["valkey"]), **ground.watched, opts=given.options)
    # fmt: on
    records = [*tracking(given, ground), *traces(given, ground)] if given.databases == "own" else []
    rooms = pools(given, gateway, [each for each in records if isinstance(each, Mlflow)])
    for part in (gateway, ground.qdrant, ground.postgres, ground.monitoring, *records, *rooms):
        pulumi.export(part.name, part.reached)
    pulumi.export("authority_secret", ground.certificates.authority_secret)
    if given.databases != "own":
        pulumi.export("postgres_founding", ground.postgres.founding)  # from which the rollout makes the copy
