"""What docs/rollout.md lets an operator do by hand to databases: on Clusters of a real API, with real servers.

CloudNativePG is played, its refusal of a Cluster that is founded in two ways by a policy of the API server.
"""

import json
import re

import pytest
from local_pair import DATABASES, goes_on, kept, told
from played_world import ROOT
from waiting import until

from rackwright.errors import Refusal
from rackwright.rollout.postgres.writes import close, is_open, replayed
from rackwright.rollout.world import State

DOCS = " ".join((ROOT / "docs" / "rollout.md").read_text().split())
PATCH = re.compile(r"kubectl -n postgres patch cluster postgres --type merge -p '(?P<patch>\{[^']*\})'")
NAME = "founded-in-one-way"
KIND = {"apiGroups": ["postgresql.cnpg.io"], "apiVersions": ["v1"], "resources": ["clusters"]}
ONE_WAY = {
    "failurePolicy": "Fail",
    "matchConstraints": {"resourceRules": [KIND | {"operations": ["CREATE", "UPDATE"]}]},
    "validations": [
        {"expression": "!has(object.spec.bootstrap) || size(dyn(object.spec.bootstrap)) < 2", "message": "two ways"}
    ],
}


def patched(ground, patch):
    """As whoever follows the docs patches phase 1's Cluster."""
    where = f"--namespace={ground.operator.places['phase1'].namespace}"
    words = ("patch", "clusters.postgresql.cnpg.io", "postgres", where, "--type=merge")
    ground.operator.kubectl(*words, f"--patch={json.dumps(patch)}")


def takes_writes(server):
    return server.is_up and server.sql("SELECT pg_is_in_recovery()") == "f"


def test_an_old_server_that_is_kept_becomes_one_of_its_own(writers, following):
    _, cut_over, follow_back, part = following.steps
    for step in (cut_over, follow_back, part):
        step.do()
    for writer in writers:
        writer.end()
    old, new = following.local.first, following.local.second
    assert not takes_writes(old)
    patched(following, json.loads(PATCH.search(DOCS)["patch"]))
    until(lambda: takes_writes(old), "it stays a follower")
    assert following.operator.faults == ["phase1 is promoted without a token: a failover"]
    (following.folder / "faults").unlink()  # here that is what is meant
    assert takes_writes(new)
    assert told(writers) <= kept(following.pair.new)
    assert told(writers) <= kept(following.pair.old)
    following.pair.old.sql("INSERT INTO kept (writer, row) VALUES (8, 1)", "app")
    assert (8, 1) not in kept(following.pair.new)
    assert {"replica", "externalClusters"}.isdisjoint(following.cluster(1)["spec"])
    before = following.cluster(1)["metadata"]["generation"]
    following.stacks[0].put("own")
    assert following.cluster(1)["metadata"]["generation"] == before  # no update of the stack brings them again


def test_where_phase_2_is_gone_for_good_phase_1_takes_writes_again_by_its_own_token(writers, following):
    pair, old = following.pair, following.local.first
    close(pair.old, DATABASES)
    replayed(pair.old, pair.new)
    pair.demote(pair.old)
    following.operator.kubectl.delete(
        "clusters.postgresql.cnpg.io", "postgres", namespace=following.operator.places["phase2"].namespace
    )
    until(lambda: not following.local.second.data.exists(), "phase 2's server stays")
    assert not takes_writes(old)
    cluster = following.cluster(1)
    token = cluster["status"]["demotionToken"]
    assert "`spec.replica.primary` as `spec.replica.self`" in DOCS
    assert "`spec.replica.promotionToken` as `status.demotionToken`" in DOCS
    patched(following, {"spec": {"replica": {"primary": cluster["spec"]["replica"]["self"], "promotionToken": token}}})
    until(lambda: takes_writes(old), "it stays a follower")
    assert not is_open(pair.old, DATABASES)
    for name in DATABASES:
        pair.old.sql(f"ALTER DATABASE {name} CONNECTION LIMIT -1")
    mark = re.search(r"`(ALTER DATABASE postgres RESET [a-z_.]+)`", DOCS)
    pair.old.sql(mark[1])
    assert is_open(pair.old, DATABASES)
    goes_on(writers)
    assert told(writers) <= kept(pair.old)


@pytest.fixture
def _one_way(api):
    """What the operator's webhook refuses, which nobody would answer here."""
    kind = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": NAME}}
    binding = {"policyName": NAME, "validationActions": ["Deny"]}
    api.apply([kind | {"kind": "ValidatingAdmissionPolicy", "spec": ONE_WAY}])
    api.apply([kind | {"kind": "ValidatingAdmissionPolicyBinding", "spec": binding}])
    yield
    api.delete("validatingadmissionpolicybindings", NAME)
    api.delete("validatingadmissionpolicies", NAME)


@pytest.mark.usefixtures("_one_way")
def test_a_checkout_that_lacks_the_setting_ends_at_the_operators_refusal_and_changes_nothing(writers, following):
    stack, before = following.stacks[1], following.cluster(2)

    def refused():
        where = f"--namespace={following.operator.places['phase2'].namespace}"
        two = {"spec": {"bootstrap": {"initdb": {"database": "app"}}}}
        with pytest.raises(Refusal) as found:
            following.operator.kubectl(
                "patch", "clusters.postgresql.cnpg.io", "postgres", where, "--type=merge", "--dry-run=server",
                f"--patch={json.dumps(two)}",
            )  # fmt: skip
        return "two ways" in found.value.what

    until(lambda: _is_in_force(refused), "the policy is not in force")
    with pytest.raises(Refusal, match="two ways"):
        stack.put("own")
    found = following.cluster(2)
    assert found["metadata"]["generation"] == before["metadata"]["generation"]
    assert found["spec"] == before["spec"]
    stack.put("copied")
    assert following.steps[0].look().state is State.DONE
    goes_on(writers)


def _is_in_force(refused):
    try:
        return refused()
    except pytest.fail.Exception:  # it was let in
        return False
