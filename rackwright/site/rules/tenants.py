"""Tenants: each has a name and a key of its own, and the file holds the key's name only."""

from collections.abc import Iterator

from rackwright.site.models import Model
from rackwright.site.reading.faults import Place, spell
from rackwright.site.reading.judge import Broken
from rackwright.site.reading.repeats import repeats
from rackwright.site.reading.unknown import look
from rackwright.site.secret_names import DEFAULT_PASSWORDS, is_of_ansible, is_of_the_platform, looks_random
from rackwright.site.site import Site
from rackwright.site.sources import Hub
from rackwright.site.tenants import Tenant


def tenants_are_unique(tenants: tuple[Tenant, ...]) -> Iterator[Broken]:
    """Limits, logs and keys are told apart by the tenant's name and key."""
    for key in ("name", "key"):
        for place, value, first in repeats((("tenants", i, key), look(each, key)) for i, each in enumerate(tenants)):
            yield Broken(place, f"is {value}, as {spell(first)} is", f"give each tenant a {key} of its own")


def keys_are_names(tenant: Tenant, place: Place) -> Iterator[Broken]:
    """What stands here is a name in the vault; a key or a password would be seen by whoever sees the file."""
    yield from _unfit((*place, "key"), tenant.key, f"tenant_{tenant.name.replace('-', '_')}_key")


def tokens_are_names(model: Model, place: Place) -> Iterator[Broken]:
    """What stands here is a name in the vault; a token would be seen by whoever sees the file."""
    if isinstance(model.source, Hub) and model.source.token is not None:
        yield from _unfit((*place, "source", "token"), model.source.token, "hub_token")


def secrets_have_one_meaning(site: Site) -> Iterator[Broken]:
    """A key of a tenant is no token of the hub, else the tenant would know it."""
    tokens = {m.source.token: i for i, m in enumerate(site.models) if isinstance(m.source, Hub) and m.source.token}
    for index, tenant in enumerate(site.tenants):
        if tenant.key in tokens:
            other = spell(("models", tokens[tenant.key], "source", "token"))
            what = f"is {tenant.key}, as {other} is"
            yield Broken(("tenants", index, "key"), what, "give each secret a name of its own")


def limits_are_enforced(tenant: Tenant, place: Place, site: Site) -> Iterator[Broken]:
    """Tokens are counted by the router of phase 2."""
    if tenant.limits.tokens_per_minute is not None and 2 not in site.phases:
        yield Broken(
            (*place, "limits", "tokens_per_minute"),
            f"is {tenant.limits.tokens_per_minute}, and phase 1, which is all that the site has, counts requests only",
            "take it out, and limit requests_per_minute",
        )


def _unfit(place: Place, name: str, better: str) -> Iterator[Broken]:
    if name in DEFAULT_PASSWORDS:
        yield Broken(
            place, f"is {name}, a default password and no name", f"write a name in the vault, such as {better}"
        )
    elif looks_random(name):
        what = "looks like a secret itself (not repeated)"
        yield Broken(place, what, f"put it into the vault, change it, and write its name here, such as {better}")
    elif is_of_the_platform(name):
        yield Broken(place, f"is {name}, the name of another secret of the site", f"write a name such as {better}")
    elif is_of_ansible(name):
        yield Broken(place, f"is {name}, a word of Ansible's own", f"write a name such as {better}")
