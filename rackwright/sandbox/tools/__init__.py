"""The programs that a rehearsal runs: found, or built from pinned Go modules and kept.

Beside this file is a folder for each family of programs: one Go module, whose go.mod and go.sum pin everything. To move
a pin, say `go get -tool <package>@<version>` and `go mod tidy` in that folder; the next run builds it.
"""

from rackwright.sandbox.tools.cache import cache_folder
from rackwright.sandbox.tools.declaration import CONTROL_PLANE, PULUMI, REHEARSAL, TOOLS, Tool
from rackwright.sandbox.tools.ensure import ensure, find
from rackwright.sandbox.tools.toolbox import Found, Source, Toolbox

__all__ = [
    "CONTROL_PLANE",
    "PULUMI",
    "REHEARSAL",
    "TOOLS",
    "Found",
    "Source",
    "Tool",
    "Toolbox",
    "cache_folder",
    "ensure",
    "find",
]
