"""The site's S3-compatible store, for weights, backups and artefacts."""

from typing import Annotated

from pydantic import Field, StringConstraints

from rackwright.site.settings import Form, Settings

Endpoint = Annotated[
    str,
    StringConstraints(pattern=r"^https?://[^/@\s]+(/[^@\s]*)?$"),
    Form("https://server[:port], without credentials"),
]
Bucket = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$"),
    Form("3 to 63 lower-case letters, digits, dots and hyphens"),
]


class ObjectStorage(Settings):
    """Where it answers; its credentials are `s3_access_key` and `s3_secret_key` in the vault."""

    endpoint: Endpoint = Field(description="Its address, without credentials.")
    region: str = Field(default="us-east-1", description="Its region; most servers of one's own take any.")
    bucket: Bucket = Field(description="The bucket that Rackwright may write to.")
