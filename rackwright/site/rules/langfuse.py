"""Langfuse: what it stands on is there."""

from collections.abc import Iterator

from rackwright.site.reading.judge import Broken
from rackwright.site.site import Site

DATABASE = "langfuse"


def langfuse_has_its_stores(site: Site) -> Iterator[Broken]:
    """It keeps accounts in PostgreSQL, and what it was sent in object storage, before anything else sees it."""
    if site.langfuse is None:
        return
    if 2 not in site.phases:
        yield Broken(("langfuse",), "is described, and the site has no phase 2, in which it is laid", "take it out")
    if site.object_storage is None:
        yield Broken(
            ("langfuse",),
            "is described, and the site has no object_storage, where it keeps what it is sent",
            "describe object_storage, or take it out",
        )
    if DATABASE not in {database.name for database in site.postgresql.databases}:
        yield Broken(
            ("langfuse",),
            f"is described, and postgresql.databases has none called {DATABASE}",
            f"add {{name: {DATABASE}, owner: {DATABASE}}}, or take it out",
        )
