"""Real PostgreSQL of the pinned major on this machine, for rehearsals and tests."""

from rackwright.sandbox.postgres.home import USER, home
from rackwright.sandbox.postgres.programs import LOCK, major, programs
from rackwright.sandbox.postgres.server import Server

__all__ = ["LOCK", "USER", "Server", "home", "major", "programs"]
