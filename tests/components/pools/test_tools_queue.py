"""Who waits in the pool for agents, who runs, and who is ended."""

import pytest
from pool_jobs import TOOLS, WAITING, alone, container, create, end, job, places, pods, tool, waits_for_room
from waiting import until

from rackwright.errors import Refusal


def test_as_many_tools_run_as_there_is_room_for_and_the_next_when_one_ends(pools):
    """Two threads each on a node of four."""
    names = [f"queue-{number}" for number in range(3)]
    two = tool(containers=[container(resources={"limits": {"cpu": "2", "memory": "1Gi"}})])
    try:
        for name in names[:2]:
            alone(pools, TOOLS, name, two)
            until(lambda at=name: places(pools, TOOLS, at) == ["pool-agents"], f"{name} on the node for agents")
        alone(pools, TOOLS, names[2], two)
        until(lambda: waits_for_room(pools, TOOLS, names[2]), "the third waits")
        end(pools, TOOLS, names[0])
        until(lambda: places(pools, TOOLS, names[2]) == ["pool-agents"], "the third in the place of the first")
    finally:
        end(pools, TOOLS, *names)


def test_more_than_may_wait_are_refused(pools):
    names = [f"full-{number}" for number in range(WAITING)]
    try:
        for name in names:
            create(pools, job("agents.md", name))
        with pytest.raises(Refusal, match="exceeded quota: tools"):
            create(pools, job("agents.md", "one-too-many"))
    finally:
        for name in names:
            pools.kubectl.delete("job", name, namespace=TOOLS)


def test_a_tool_that_runs_away_is_ended(pools):
    never = {"nodeSelector": {"rackwright/agents": "true", "test/nowhere": "true"}}
    create(pools, job("agents.md", "runaway", activeDeadlineSeconds=1, of_pod=never))
    try:
        pools.kubectl.wait_for("job/runaway", condition="Failed", namespace=TOOLS, seconds=120)
        (state,) = pools.kubectl.get("jobs", namespace=TOOLS)
        assert "DeadlineExceeded" in {each.get("reason") for each in state["status"]["conditions"]}
        until(lambda: not pods(pools, TOOLS, "runaway"), "its pod is gone")
    finally:
        pools.kubectl.delete("job", "runaway", namespace=TOOLS)
