"""Phase 1: one server, k3s, the whole platform."""

import pulumi

from components.certificates import ISSUER
from components.gateway import Gateway
from components.gateway.shifting import Shift
from components.vllm import Vllm
from rackwright.rollout.way import Way
from stacks.foundation import found
from stacks.given import Given


def shift(given: Given) -> Shift | None:
    """Sessions that go on to phase 2's door, while the site moves there."""
    site = given.site
    if not given.share:
        return None
    return Shift(f"{site.door(2)}:{site.gateway.port}", site.gateway.host, given.share, Way(site).moving)


def lay(given: Given) -> None:
    """Register everything; what waits for what is said by what one component is given of another."""
    site, images, secrets = given.site, given.catalog.images, given.secrets
    ground = found(given)

    # fmt: off
    models = Vllm("models", site.models_in(1), image=images["vllm"], rclone=images["rclone"], gpu=site.gpu,
                  hosts=given.hosts, secrets=secrets, object_storage=site.object_storage, inside=given.inside,
                  callers=["gateway"], **ground.kept, **ground.watched, opts=given.options)
    gateway = Gateway("gateway", site.gateway, image=images["envoy"], tenants=site.tenants, keys=secrets,
                      upstreams=models.upstreams, models_in=models.name, nodes=len(given.hosts), issuer=ISSUER,
                      address=site.door(1), issuers=ground.certificates.issuer, shift=shift(given),
                      **ground.watched, opts=given.options)
    # fmt: on
    for part in (gateway, ground.qdrant, ground.postgres, ground.monitoring):
        pulumi.export(part.name, part.reached)
    pulumi.export("authority_secret", ground.certificates.authority_secret)
