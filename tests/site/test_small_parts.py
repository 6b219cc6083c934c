"""Small parts of validation, each by itself."""

import pytest
from fixture_files import ROOT

from rackwright.site.gpu import Gpu
from rackwright.site.gpu_resources import device_gib, offered, requested
from rackwright.site.hosts import Gpus
from rackwright.site.known.architectures import architecture
from rackwright.site.memory import kv_pool_gib
from rackwright.site.port_names import is_taken
from rackwright.site.reading.faults import Fault, FileRefused, spell
from rackwright.site.reading.nearest import listed, match, nearest
from rackwright.site.reading.shown import shown
from rackwright.site.reading.unknown import NotKnown
from rackwright.site.secret_names import is_of_ansible, is_of_the_platform, looks_random
from rackwright.site.site import Site
from rackwright.site.splitting import legal_tensor_parallel, longest_context, tensor_parallel_that_fits
from rackwright.site.volumes import purpose_of


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ((), "the document"),
        (("hosts", 2, "disks", 0, "path"), "hosts[2].disks[0].path"),
        (("drivers", "580", "version"), "drivers.580.version"),
        (("hosts", 0, "a b"), "hosts[0]['a b']"),
        (("", "x\ny"), "['']['x\\ny']"),
        (("x" * 100,), f"['{'x' * 56}...]"),
    ],
)
def test_a_place_is_spelt_as_people_write_it(place, text):
    assert spell(place) == text


def test_a_value_is_shown_on_one_line_and_not_too_long():
    assert shown("a\nb") == "'a\\nb'"
    assert len(shown("x" * 1_000)) == 60
    assert "hunter2" not in shown("https://me:hunter2@host")


def test_what_was_meant_is_found_whatever_the_case():
    assert match("Hermes", ["mistral", "hermes"]) == "hermes"
    assert match("zzz", ["hermes"]) is None
    assert nearest("zzz", ["a", "b"]) == "known: a, b"
    assert listed(str(number) for number in range(20)).endswith("15 and 4 more")


def test_faults_are_in_the_order_of_the_file_and_each_once():
    late, early = Fault("f", 9, "b", "is b", "c"), Fault("f", 2, "a", "is a", "c")
    refused = FileRefused(ROOT, [late, early, late])
    assert refused.faults == [early, late]
    assert refused.cure == "f:2: a: is a; c\nf:9: b: is b; c"


@pytest.mark.parametrize(
    "name", ["lo", "eth0", "ens1f0", "enp65s0f1", "cni0", "flannel.1", "cilium_host", "veth1a", "docker0"]
)
def test_names_that_others_give_out_are_taken(name):
    assert is_taken(name)


@pytest.mark.parametrize("name", ["node0", "fabric0", "bond0", "lan0", "storage", "enode", "local"])
def test_names_of_ones_own_are_free(name):
    assert not is_taken(name)


def test_names_of_secrets_are_told_from_secrets():
    assert looks_random("a8f3k2m9q1z7x4c6v5b0n8s2")
    assert not any(
        looks_random(name) for name in ("tenant_chat_key", "key_of_the_team_in_building_12_floor_34", "k" * 40)
    )
    assert is_of_the_platform("postgresql_mlflow_password")
    assert is_of_ansible("ansible_user")
    assert not is_of_ansible("tenant_chat_key")


def test_a_storage_class_stands_for_a_purpose():
    assert purpose_of("nvme-vectors") == "vectors"
    assert purpose_of("nvme-system") is None


H100 = {"product": "h100_sxm", "count": 2, "memory_gb": 80, "link": "nvswitch"}


def test_a_slice_has_its_eighths_of_the_memory():
    assert device_gib(Gpus(**H100)) == 79.18
    assert device_gib(Gpus(**H100, mig="all-1g.10gb")) == pytest.approx(79.18 / 8)
    assert device_gib(Gpus(**H100, mig="all-3g.40gb")) == pytest.approx(79.18 / 2)
    assert device_gib(Gpus(**H100, mig="all-balanced"), "2g.20gb") == pytest.approx(79.18 / 4)
    for gpus, profile in ((Gpus(**H100, mig="all-balanced"), None), (Gpus(**H100, mig="all-1g.10gb"), "3g.40gb")):
        with pytest.raises(NotKnown):
            device_gib(gpus, profile)


def test_resources_bear_the_names_of_the_strategy():
    balanced = Gpus(**H100, mig="all-balanced")
    assert offered(balanced, Gpu(driver_branch=580, mig_strategy="mixed")) == {
        "nvidia.com/mig-1g.10gb": 4,
        "nvidia.com/mig-2g.20gb": 2,
        "nvidia.com/mig-3g.40gb": 2,
    }
    site = Site.load(ROOT / "tests" / "fixtures" / "valid" / "slices_mixed.yml")
    assert requested(site.models[0], site.gpu) == "nvidia.com/mig-3g.40gb"
    assert requested(site.models[0], Gpu(driver_branch=580)) == "nvidia.com/gpu"


def test_heads_decide_how_a_model_may_be_split():
    assert legal_tensor_parallel(architecture("meta-llama/Llama-3.1-70B")) == (1, 2, 4, 8, 16)
    assert legal_tensor_parallel(architecture("Qwen/Qwen2.5-7B")) == (1, 2, 4)


def test_the_longest_context_is_the_last_one_that_fits():
    model, gpus = Site.load(ROOT / "inventory" / "example").models[0], Gpus(**H100)
    narrow = model.model_copy(update={"tensor_parallel": 2})
    longest = longest_context(narrow, gpus)
    pool = kv_pool_gib(narrow, gpus) * 2**30
    assert narrow.shape.sequence_bytes(longest, tensor_parallel=2) <= pool
    assert narrow.shape.sequence_bytes(longest + 1, tensor_parallel=2) > pool
    assert longest_context(model.model_copy(update={"tensor_parallel": 1}), gpus) == 0
    assert tensor_parallel_that_fits(narrow, gpus, 8) == 4
    assert tensor_parallel_that_fits(narrow, gpus, 2) is None
