"""Data lies on block storage of the nodes' own drives."""

import re
from collections.abc import Iterator

from rackwright.site.langfuse import Langfuse
from rackwright.site.monitoring import Monitoring
from rackwright.site.postgresql import Postgresql
from rackwright.site.reading.judge import Broken
from rackwright.site.reading.nearest import match
from rackwright.site.storage_classes import VOLUME_PURPOSES, storage_class
from rackwright.site.vectors import Vectors

NETWORK = re.compile(
    r"(?<![a-z])(nfs|cifs|smb|samba|ceph-?fs|gluster(fs)?|lustre|beegfs|gpfs|efs|azurefile|filestore|s3|sshfs|9p|fuse)(?![a-z])"
)
CLASSES = tuple(storage_class(purpose) for purpose in VOLUME_PURPOSES)


def vectors_are_on_block_storage(vectors: Vectors) -> Iterator[Broken]:
    """Qdrant maps its files into memory and needs what POSIX promises of them."""
    yield from _unfit("vectors", vectors.storage_class, "Qdrant corrupts its collections there")


def databases_are_on_block_storage(postgresql: Postgresql) -> Iterator[Broken]:
    """PostgreSQL counts on a write that is said to be done."""
    yield from _unfit("postgresql", postgresql.storage_class, "PostgreSQL loses what it was told is written there")


def metrics_are_on_block_storage(monitoring: Monitoring) -> Iterator[Broken]:
    """Prometheus does not support network file systems."""
    yield from _unfit("monitoring", monitoring.storage_class, "Prometheus corrupts its blocks there")


def traces_are_on_block_storage(langfuse: Langfuse | None) -> Iterator[Broken]:
    """ClickHouse renames and links its files, which network file systems do not do whole."""
    if langfuse is not None:
        yield from _unfit("langfuse", langfuse.storage_class, "ClickHouse loses parts of its tables there")


def _unfit(block: str, name: str, reason: str) -> Iterator[Broken]:
    place = (block, "storage_class")
    known = ", ".join(CLASSES)
    if NETWORK.search(name):
        yield Broken(place, f"is {name}, a network file system by its name, and {reason}", f"write one of {known}")
    elif name not in CLASSES:
        meant = match(name, CLASSES)
        yield Broken(
            place,
            f"is {name}, a class that nothing on this site makes, so that its pods would wait for ever",
            f"did you mean {meant}?" if meant else f"write one of {known}",
        )
