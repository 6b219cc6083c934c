"""The stack's steps, with a stand-in for Pulumi's command that keeps what it was told and says what it is to say."""

import json
import os
import socket
import stat
import tempfile
from pathlib import Path

import pytest

from rackwright.errors import Refusal
from rackwright.rollout.platform.lay import Lay, Registered, Scale
from rackwright.rollout.platform.stack import PulumiStack
from rackwright.rollout.world import State

PROGRAM = """#!/bin/sh
echo "$*" >> calls
touch "$TMPDIR/kubeconfig1" && echo "$TMPDIR" > left
case "$1 $2" in
  "stack export") [ -f made ] || { echo "error: no stack named 'phase2' found" >&2; exit 255; }; cat export;;
  "stack init") touch made; echo '{"deployment": {"resources": []}}' > export;;
  "config get") f="set-${3#rackwright:}"; [ -f $f ] && cat $f || { echo "error: configuration key 'x' not found" >&2; exit 255; };;
  "config set") printf %s "$4" > "set-${3#rackwright:}";;
  "config rm") rm "set-${3#rackwright:}";;
  "up --yes") if [ -f locked ]; then cat locked >&2; exit 255; fi; cp after export;;
  "cancel --yes") rm locked;;
  "destroy --yes") echo '{"deployment": {"resources": [{"type": "pulumi:pulumi:Stack"}]}}' > export;;
esac
"""  # noqa: E501


def shown(awaits=(), pending=()):
    outputs = {"gateway": {"address": "10.30.0.6"}} | ({"awaits": list(awaits)} if awaits else {})
    own = {"type": "pulumi:pulumi:Stack", "outputs": outputs}
    resources = [own, {"type": "pulumi:providers:kubernetes"}, {"type": "kubernetes:core/v1:Namespace"}]
    return json.dumps({"deployment": {"resources": resources, "pending_operations": list(pending)}})


@pytest.fixture
def root(tmp_path):
    program = tmp_path / "bin" / "pulumi"
    program.parent.mkdir()
    program.write_text(PROGRAM)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "site.yml").touch()
    return tmp_path


@pytest.fixture
def stack(root):
    environment = os.environ | {"PATH": f"{root / 'bin'}:{os.environ['PATH']}"}
    return PulumiStack(root / "site", 2, root, environment=environment)


def calls(root):
    return [line for line in (root / "calls").read_text().splitlines() if not line.startswith(("stack export", "conf"))]


def test_nothing_that_opens_the_cluster_is_left_by_its_provider(root, stack):
    assert stack.state() is None
    place = Path((root / "left").read_text().strip())
    assert place != Path(tempfile.gettempdir())
    assert not place.exists()


def test_phase_2_is_laid_without_whom_phase_1_needs_and_scaled_onto_it_later(root, stack):
    (root / "after").write_text(shown(["gpu-01"]))
    lay, scale = Lay(stack, ["gpu-01"]), Scale(stack)
    assert lay.look().state is State.ABSENT
    lay.do()
    assert lay.look().state is State.DONE
    assert (root / "set-awaits").read_text() == "gpu-01"
    assert (root / "set-site").read_text() == str(root / "site")
    assert scale.look().state is State.ABSENT
    assert scale.look().words == "it is up without gpu-01"
    (root / "after").write_text(shown())
    scale.do()
    assert not (root / "set-awaits").exists()
    assert scale.look().state is State.DONE
    assert lay.look().state is State.DONE
    lay.undo()
    assert lay.look().state is State.ABSENT


def test_databases_that_are_copied_are_awaited_from_the_first_update_on_and_never_once_they_are_there(root, stack):
    (root / "after").write_text(shown())
    lay = Lay(stack, [], copies_data=True)
    lay.do()
    assert (root / "set-databases").read_text() == "awaited"
    registered = Registered(stack)
    registered.put("copied")
    lay.do()
    assert (root / "set-databases").read_text() == "copied"
    registered.put("own")
    assert not (root / "set-databases").exists()
    lay.do()
    assert not (root / "set-databases").exists()


def test_what_was_laid_for_phase_1_s_databases_is_no_platform_without_them(root, stack):
    (root / "after").write_text(shown())
    Lay(stack, [], copies_data=True).do()
    with pytest.raises(Refusal, match="databases of the stack phase2 is awaited: it was laid for phase 1's databases"):
        Lay(stack, []).look()
    Registered(stack).put("own")
    assert Lay(stack, []).look().state is State.DONE


def test_laid_anew_without_phase_1_s_databases_it_awaits_none(root, stack):
    (root / "after").write_text(shown())
    Lay(stack, [], copies_data=True).do()
    Lay(stack, [], copies_data=True).undo()
    assert (root / "set-databases").read_text() == "awaited"
    Lay(stack, []).do()
    assert not (root / "set-databases").exists()


def test_a_copy_is_made_of_what_the_stack_would_register(root, stack):
    stack.make()
    with pytest.raises(Refusal, match="phase2 was laid with databases of its own"):
        Registered(stack).founding()
    told = json.loads(shown())
    told["deployment"]["resources"][0]["outputs"]["postgres_founding"] = {"kind": "Cluster"}
    (root / "export").write_text(json.dumps(told))
    assert Registered(stack).founding() == {"kind": "Cluster"}


@pytest.mark.parametrize("half", [
    {"deployment": {"resources": [{"type": "pulumi:pulumi:Stack"}, {"type": "kubernetes:core/v1:Namespace"}]}},
    json.loads(shown(pending=[{"type": "creating"}])),
])  # fmt: skip
def test_an_update_that_did_not_come_to_its_end_is_finished(root, stack, half):
    (root / "made").touch()
    (root / "set-site").write_text("site")
    (root / "export").write_text(json.dumps(half))
    (root / "after").write_text(shown())
    lay = Lay(stack, [])
    assert lay.look().state is State.TO_FINISH
    lay.do()
    assert lay.look().state is State.DONE


def locked(root, host, process):
    (root / "locked").write_text(
        "error: the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end or delete the "
        f"lock file with `pulumi cancel`.\n  file:///x.json: created by me@{host} (pid {process}) at 2026-11-30"
    )


def test_a_lock_of_a_process_that_is_gone_is_taken_away(root, stack):
    (root / "after").write_text(shown())
    stack.make()
    gone = os.spawnlp(os.P_WAIT, "true", "true") or 2**22 + 1  # beyond the largest number of a process
    locked(root, socket.gethostname(), gone)
    stack.up()
    assert [line.split()[0] for line in calls(root)] == ["stack", "up", "cancel", "up"]


@pytest.mark.parametrize(
    ("host", "process"), [(socket.gethostname(), os.getpid()), ("elsewhere", 2**22 + 1)], ids=["here", "elsewhere"]
)
def test_a_lock_of_somebody_at_work_is_not(root, stack, host, process):
    stack.make()
    locked(root, host, process)
    with pytest.raises(Refusal, match="pulumi up --yes says no: the stack is currently locked"):
        stack.up()
    assert (root / "locked").exists()


def test_the_stack_of_another_site_is_refused(root, stack):
    (root / "made").touch()
    (root / "export").write_text(shown())
    (root / "set-site").write_text("inventory/other")
    for act in (stack.make, stack.up, stack.destroy):
        with pytest.raises(Refusal, match=r"The stack phase2 of this checkout is that of .*inventory/other, not of"):
            act()
    assert not [line for line in calls(root) if line.startswith(("up", "destroy"))]
