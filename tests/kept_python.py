"""A Python that stays from task to task, in a guest or here: what Ansible is told, so that Mitogen does that."""

import os
from importlib.util import find_spec


def settings() -> dict[str, str]:
    """Ansible's variables; none where RACKWRIGHT_PLAIN_ANSIBLE is set, and every task runs as on users' machines.

    An emulated processor takes seconds to start Python, which it would do for every task; any other half a second.
    """
    if os.environ.get("RACKWRIGHT_PLAIN_ANSIBLE"):
        return {}
    (strategies,) = find_spec("ansible_mitogen.plugins.strategy").submodule_search_locations
    return {
        "ANSIBLE_STRATEGY_PLUGINS": strategies,
        "ANSIBLE_STRATEGY": "mitogen_linear",
        "ANSIBLE_DEPRECATION_WARNINGS": "false",
        "ANSIBLE_TIMEOUT": "240",  # a connection ends with Python's start, which is slow there
    }
