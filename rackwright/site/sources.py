"""Where the weights of a model come from."""

from typing import Annotated, Any

from pydantic import Discriminator, Field, StringConstraints, Tag

from rackwright.site.settings import Commit, Form, Identifier, Settings

HubName = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*$"),
    Form("owner/model, as the hub writes it"),
]
Prefix = Annotated[str, StringConstraints(pattern=r"^[^/\s][^\s]*$"), Form("no blanks, no slash in front")]
Export = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9.-]+:/[^\s]*$"), Form("server:/export/folder")]
Folder = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]*$"), Form("a path without a slash in front")
]
KINDS = ("hub", "s3", "nfs", "local")


class Hub(Settings):
    """A repository of the Hugging Face hub."""

    hub: HubName = Field(description="Its name, owner/model.")
    revision: Commit = Field(description="The commit, so that every replica serves the same weights.")
    token: Identifier | None = Field(
        default=None, description="The name of the access token in the vault, for a gated model."
    )


class S3(Settings):
    """A prefix in the site's object storage."""

    s3: Prefix = Field(description="The prefix below the bucket.")


class Nfs(Settings):
    """A folder on an NFS server."""

    nfs: Export = Field(description="The folder, as server:/export/folder.")


class Local(Settings):
    """A folder that already lies on the server's models drive."""

    local: Folder = Field(description="The folder, relative to the root of the model's volume.")


def _kind_of_source(source: Any) -> str | None:
    if isinstance(source, Settings):
        return tag(type(source).__name__.lower())
    named = [kind for kind in KINDS if kind in source] if isinstance(source, dict) else []
    return tag(named[0]) if len(named) == 1 else None


def tag(name: str) -> str:
    """The name of a member of a union: no key of a file looks like it, so no place in a message is taken for it."""
    return f"<{name}>"


Source = Annotated[
    Annotated[Hub, Tag(tag("hub"))]
    | Annotated[S3, Tag(tag("s3"))]
    | Annotated[Nfs, Tag(tag("nfs"))]
    | Annotated[Local, Tag(tag("local"))],
    Discriminator(
        _kind_of_source,
        custom_error_type="source",
        custom_error_message="names no source; write one of hub, s3, nfs or local",
    ),
]
