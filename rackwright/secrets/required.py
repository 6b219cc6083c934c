"""Which secrets a site needs: their names follow from the site file, so that nobody keeps a second list."""

import secrets
import string
from collections.abc import Iterator
from dataclasses import dataclass

from rackwright.errors import Refusal
from rackwright.secrets import authority
from rackwright.secrets.strength import weakness
from rackwright.site.secret_names import is_of_ansible
from rackwright.site.site import Site
from rackwright.site.sources import Hub

ALPHABET = string.ascii_letters + string.digits  # safe in a header, a URL, a shell, YAML and a template alike


@dataclass(frozen=True)
class Secret:
    """One secret by its name in the vault; lengths are in characters."""

    name: str
    purpose: str
    generated: bool = True
    length: int = 40
    shortest: int = 16

    def generate(self) -> str:
        """A new random value."""
        return "".join(secrets.choice(ALPHABET) for _ in range(self.length))

    def fault(self, value: str) -> str | None:
        """Why a value cannot be this secret, as the end of a sentence that begins with its name; None where it can."""
        return weakness(value, shortest=self.shortest, name=self.name)


@dataclass(frozen=True)
class AuthoritySecret(Secret):
    """The one that is no password: what signs the certificates of a site."""

    site: str = ""

    def generate(self) -> str:
        """A new authority."""
        return authority.make(self.site)

    def fault(self, value: str) -> str | None:
        """Why it cannot sign."""
        return super().fault(value) or authority.fault(value)


def required(site: Site) -> tuple[Secret, ...]:
    """Every secret of a site, once; raises Refusal where one name is given to two things."""
    found: dict[str, Secret] = {}
    for secret in _wanted(site):
        first = found.setdefault(secret.name, secret)
        if first != secret:
            raise Refusal(
                f"The name {secret.name} stands for two secrets: {_clause(first)}, and {_clause(secret)}.",
                "Give one of them another name in the site file.",
            )
        if is_of_ansible(secret.name):
            raise Refusal(
                f"The name {secret.name} cannot be a secret's: it is a word of Ansible's own.",
                "Give the secret another name in the site file.",
            )
    return tuple(found.values())


def _clause(secret: Secret) -> str:
    return secret.purpose[0].lower() + secret.purpose[1:].rstrip(".")


def _wanted(site: Site) -> Iterator[Secret]:
    yield Secret("pulumi_passphrase", "Encrypts the secrets in Pulumi's state.")
    if site.clusters.phase1:
        yield Secret("k3s_token", "Lets a server join the k3s cluster.")
    yield AuthoritySecret(authority.NAME, "Signs the certificates of both phases; clients trust it.", site=site.name)
    yield Secret("qdrant_api_key", "Reads and writes vectors.")
    yield Secret("qdrant_read_only_api_key", "Reads vectors.")
    yield Secret("grafana_admin_password", "Opens Grafana as admin.")
    if site.langfuse:
        yield Secret("langfuse_key", "Encrypts what Langfuse keeps; its stores' passwords follow from it.")
        yield Secret("langfuse_admin_password", "Opens Langfuse as its administrator.")
    for database in site.postgresql.databases:
        yield Secret(f"postgresql_{database.owner}_password", f"Opens the databases of {database.owner}.")
    for tenant in site.tenants:
        yield Secret(tenant.key, f"The API key of tenant {tenant.name}.")
    yield from _given(site)


def _given(site: Site) -> Iterator[Secret]:
    """Secrets that somebody else makes."""
    tokens = [model.source.token for model in site.models if isinstance(model.source, Hub) and model.source.token]
    for token in dict.fromkeys(tokens):
        yield Secret(token, "Fetches gated weights from the Hugging Face hub.", generated=False, shortest=8)
    if site.object_storage:
        endpoint = site.object_storage.endpoint
        yield Secret("s3_access_key", f"Names the account at {endpoint}.", generated=False, length=20, shortest=3)
        yield Secret("s3_secret_key", f"Opens the account at {endpoint}.", generated=False, shortest=8)
