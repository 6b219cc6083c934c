"""Checks after a deployment: the same on a rehearsal, as far as it goes, and whole on a live cluster."""

from rackwright.checks.check import check
from rackwright.checks.run import Verdict

__all__ = ["Verdict", "check"]
