"""What happens in a run, an event a line as JSON, to whoever started it and named a file descriptor."""

from __future__ import annotations

import json
import os
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: rackwright_events
type: notification
short_description: Events of a run as lines of JSON
description:
  - Tells the program that started Ansible which play and task has begun, and how each host came out of it.
  - Does nothing where the environment names no file descriptor.
requirements:
  - Enabled by the environment, ANSIBLE_CALLBACKS_ENABLED=rackwright_events.
"""

DESCRIPTOR = "RACKWRIGHT_EVENTS"
LONGEST = 2000  # a module's words; a traceback says no more after that
SAID_NOTHING = "it gave no reason"
HIDDEN = "the reason is hidden, as there is a secret in it; the host's own journal may say more"


class CallbackModule(CallbackBase):
    """Beside the output for people, and never in its place."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "rackwright_events"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        number = os.environ.pop(DESCRIPTOR, "")
        self._descriptor = int(number) if number.isdecimal() else None
        self._task = ""

    def v2_playbook_on_play_start(self, play: Any) -> None:
        """A play has begun."""
        self._tell(play=play.get_name())

    def v2_playbook_on_task_start(self, task: Any, is_conditional: bool) -> None:  # noqa: ARG002 - Ansible's own
        """A task has begun."""
        self._begin(task)

    def v2_playbook_on_handler_task_start(self, task: Any) -> None:
        """A handler has begun."""
        self._begin(task)

    def v2_runner_on_ok(self, result: Any) -> None:
        """A host is done with a task."""
        self._end(result, "changed" if result.result.get("changed") else "ok")

    def v2_runner_on_failed(self, result: Any, **_: Any) -> None:
        """A host failed; a rescue may follow, which the last event of all knows."""
        self._end(result, "failed", _words(result.result))

    def v2_runner_on_unreachable(self, result: Any) -> None:
        """A host did not answer, or did not let Ansible in."""
        self._end(result, "unreachable", _words(result.result))

    def v2_playbook_on_stats(self, stats: Any) -> None:
        """The run has ended."""
        self._tell(stats={host: stats.summarize(host) for host in stats.processed})

    def _begin(self, task: Any) -> None:
        self._task = task.get_name().rpartition(" : ")[2]
        self._tell(task=self._task)

    def _end(self, result: Any, kind: str, words: str = "") -> None:
        self._tell(host=result.host.get_name(), kind=kind, task=self._task, words=words)

    def _tell(self, **event: Any) -> None:
        if self._descriptor is None:
            return
        try:
            os.write(self._descriptor, f"{json.dumps(event, default=str)}\n".encode())
        except OSError:  # whoever listened has gone: the run goes on
            self._descriptor = None


def _words(result: Any) -> str:
    """Why, in the module's words: of a loop the first item's that failed."""
    if "censored" in result:
        return HIDDEN
    for item in result.get("results") or ():
        if isinstance(item, dict) and (item.get("failed") or item.get("unreachable")):
            return _words(item)
    said = [result.get("msg"), result.get("stderr") or result.get("module_stderr")]
    lines = (" ".join(str(each).split()) for each in said if each)
    return " ".join(lines)[:LONGEST] or SAID_NOTHING
