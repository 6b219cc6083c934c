"""What tasks that write rules for devices must keep to, whichever role they are in."""

from pathlib import Path

import yaml

ROLES = Path(__file__).resolve().parents[2] / "playbooks/roles"
WRITES = ("ansible.builtin.copy", "ansible.builtin.template")


def tasks_with_udev_rules():
    for file in ROLES.glob("*/tasks/*.yml"):
        tasks = yaml.safe_load(file.read_text()) or []
        for number, task in enumerate(tasks):
            if any("/etc/udev/rules.d/" in task.get(module, {}).get("dest", "") for module in WRITES):
                yield file, tasks[number + 1 :]


def test_rules_for_devices_are_read_before_they_are_to_act():
    """Udevd looks for new files at most every three seconds: an event that comes sooner meets the old ones."""
    found = list(tasks_with_udev_rules())
    assert found
    for file, after in found:
        commands = [str(task.get("ansible.builtin.command", "")) for task in after]
        acting = next(number for number, command in enumerate(commands) if "udevadm trigger" in command)
        assert any("udevadm control --reload" in command for command in commands[:acting]), file
