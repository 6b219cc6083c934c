"""Shared memory of a pod is for the GPUs that the pod has, which stand on one host."""

import pytest
from fixture_files import edited, valid_file

from rackwright.errors import Refusal
from rackwright.site.site import Site

STAGES = "    pipeline_parallel: 2\n"


@pytest.fixture
def spanning(tmp_path):
    """A model of 16 GPUs, of which a replica has 8 on each of two hosts."""

    def load(shared_gib):
        edit = {"find": STAGES, "write": f"{STAGES}    shared_memory_gib: {shared_gib}\n"}
        (tmp_path / "site.yml").write_text(edited(valid_file("spanning").read_text(), [edit])[0])
        return Site.load(tmp_path)

    return load


def test_a_replica_on_two_hosts_wants_what_one_of_them_has_gpus(spanning):
    (group, _) = spanning(8).groups_in(2)
    assert (group.model.gpus, group.part.gpus, group.part.shm_gib) == (16, 8, 8)
    with pytest.raises(Refusal, match=r"is 7, and 8 GPUs on one host want 1 GiB each"):
        spanning(7)
