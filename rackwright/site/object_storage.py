"""The site's S3-compatible store, for weights, backups and artefacts."""

from pydantic import Field

from rackwright.site.settings import Settings


class ObjectStorage(Settings):
    """Where it answers; its credentials are `s3_access_key` and `s3_secret_key` in the vault."""

    endpoint: str = Field(pattern=r"^https?://[^/@\s]+(/[^@\s]*)?$", description="Its address, without credentials.")
    region: str = Field(default="us-east-1", description="Its region; most servers of one's own take any.")
    bucket: str = Field(
        pattern=r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$", description="The bucket that Rackwright may write to."
    )
