"""Inside a guest: the code of what Ansible sends in archives is kept, since an emulated processor compiles for seconds.

Python keeps compiled code of files, and never of what it imports from an archive; each of Ansible's tasks sends one.
It changes how long a task takes and nothing of what it does.
"""

import marshal
import os
import zipimport
from contextlib import suppress
from hashlib import sha1
from pathlib import Path
from types import CodeType

FOLDER = Path("/var/cache/kept-code")
compile_source = zipimport._compile_source  # type: ignore[attr-defined]


def kept(pathname: str, source: bytes) -> CodeType:
    """The code of a source, compiled where nobody has done so yet."""
    file = FOLDER / sha1(source, usedforsecurity=False).hexdigest()
    with suppress(OSError, EOFError, ValueError, TypeError):
        found = marshal.loads(file.read_bytes())  # noqa: S302 - written here, below, by root
        if isinstance(found, CodeType):
            return found
    code: CodeType = compile_source(pathname, source)
    with suppress(OSError):  # without room it is compiled each time
        FOLDER.mkdir(parents=True, exist_ok=True)
        new = file.with_name(f"{file.name}.{os.getpid()}")
        new.write_bytes(marshal.dumps(code))
        new.replace(file)
    return code


def install() -> None:
    """Have Python import from archives that way."""
    zipimport._compile_source = kept  # type: ignore[attr-defined]
