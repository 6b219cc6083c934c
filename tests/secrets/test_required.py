"""Names of secrets follow from the site."""

import pytest

from rackwright.errors import Refusal
from rackwright.secrets import required
from rackwright.site.secret_names import is_of_ansible, is_of_the_platform
from rackwright.site.site import Site
from rackwright.site.sources import Hub

ALWAYS = {
    "certificate_authority",
    "pulumi_passphrase",
    "qdrant_api_key",
    "qdrant_read_only_api_key",
    "grafana_admin_password",
}
DATABASES = {f"postgresql_{owner}_password" for owner in ("langgraph", "mlflow", "langfuse")}
LANGFUSE = {"langfuse_key", "langfuse_admin_password"}
TENANTS = {"tenant_chat_key", "tenant_agents_key", "tenant_nightly_key"}


def changed(site: Site, **blocks) -> Site:
    return site.model_copy(update=blocks)


def test_the_rack_needs_these(lab):
    names = {secret.name for secret in required(lab)}
    assert names == ALWAYS | DATABASES | TENANTS | {"k3s_token", "s3_access_key", "s3_secret_key", *LANGFUSE}


def test_a_gated_model_needs_its_token_once(lab):
    hub = Hub(hub="meta-llama/Llama-3.3-70B-Instruct", revision="0" * 40, token="hub_token")
    models = tuple(model.model_copy(update={"source": hub}) for model in lab.models)
    tokens = [secret for secret in required(changed(lab, models=models)) if secret.name == "hub_token"]
    assert len(tokens) == 1
    assert not tokens[0].generated


def test_no_object_storage_needs_no_keys_and_no_phase_1_no_token(lab):
    clusters = lab.clusters.model_copy(update={"phase1": None})
    names = {secret.name for secret in required(changed(lab, object_storage=None, clusters=clusters))}
    assert not names & {"k3s_token", "s3_access_key", "s3_secret_key"}


def test_names_that_site_files_may_not_use_are_the_ones_that_every_site_has(lab):
    tenants = {tenant.key for tenant in lab.tenants}
    assert all(is_of_the_platform(secret.name) for secret in required(lab) if secret.name not in tenants)


def test_each_secret_says_in_a_sentence_what_it_is_for(lab):
    for secret in required(lab):
        assert secret.purpose[0].isupper()
        assert secret.purpose.endswith(".")


@pytest.mark.parametrize("key", ["qdrant_api_key", "tenant_agents_key"])
def test_a_name_that_stands_for_two_secrets_is_refused(lab, key):
    chat, *others = lab.tenants
    with pytest.raises(Refusal, match=f"The name {key} stands for two secrets"):
        required(changed(lab, tenants=(chat.model_copy(update={"key": key}), *others)))


@pytest.mark.parametrize("key", ["site", "hostvars", "ansible_password", "inventory_hostname", "on"])
def test_a_name_that_ansible_uses_is_refused(lab, key):
    chat, *others = lab.tenants
    with pytest.raises(Refusal, match="it is a word of Ansible's own"):
        required(changed(lab, tenants=(chat.model_copy(update={"key": key}), *others)))


def test_every_word_that_ansible_sets_or_reserves_is_known():
    from ansible.constants import INTERNAL_STATIC_VARS  # noqa: PLC0415 - it takes a second
    from ansible.vars.reserved import get_reserved_names  # noqa: PLC0415

    assert not [name for name in {*get_reserved_names(), *INTERNAL_STATIC_VARS, "item"} if not is_of_ansible(name)]
