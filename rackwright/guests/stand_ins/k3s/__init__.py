"""A release of k3s as a folder, with a program of ours in the place of the real one, which is not to be had everywhere.

It proves that the real configuration file has keys that k3s knows, that files, tokens and settings of the kernel are
where it looks for them, and how units and restarts go. It proves nothing about pods.
"""

from rackwright.guests.stand_ins.k3s.release import release

__all__ = ["release"]
