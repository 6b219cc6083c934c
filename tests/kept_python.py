"""A guest's Python that stays from task to task: what Ansible is told, so that Mitogen does that."""

from importlib.util import find_spec


def settings() -> dict[str, str]:
    """Ansible's variables. An emulated processor takes seconds to start Python, which it would do for every task."""
    (strategies,) = find_spec("ansible_mitogen.plugins.strategy").submodule_search_locations
    return {
        "ANSIBLE_STRATEGY_PLUGINS": strategies,
        "ANSIBLE_STRATEGY": "mitogen_linear",
        "ANSIBLE_DEPRECATION_WARNINGS": "false",
        "ANSIBLE_TIMEOUT": "240",  # a connection ends with Python's start, which is slow there
    }
