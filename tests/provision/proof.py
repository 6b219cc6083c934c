"""Testinfra on a booted guest, whose SSH is reached in its rack's namespace only."""

from typing import Any

from testinfra.backend.base import BaseBackend, CommandResult
from testinfra.host import Host

from rackwright.guests.guest import Guest


class Inside(BaseBackend):
    """Runs Testinfra's commands over the guest's own SSH."""

    NAME = "guest"

    def __init__(self, guest: Guest) -> None:
        super().__init__(guest.name)
        self._guest = guest

    def run(self, command: str, *args: str, **_: Any) -> CommandResult:
        words = self.get_command(command, *args)
        done = self._guest.ssh(words, check=False)
        return self.result(done.returncode, self.encode(words), done.stdout.encode(), done.stderr.encode())


def host(guest: Guest) -> Host:
    """A guest as Testinfra has hosts."""
    return Host(Inside(guest))
