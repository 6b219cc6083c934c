"""The one door that tenants come in by."""

from typing import Annotated

from pydantic import Field, StringConstraints

from rackwright.site.settings import Address, Form, Settings

HostName = Annotated[
    str,
    StringConstraints(
        max_length=253,
        pattern=r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$",
    ),
    Form("a name with at least one dot, in lower case and without scheme and port"),
]


class Gateway(Settings):
    """TLS, API keys and limits, in front of every served model."""

    host: HostName = Field(description="The name that tenants call, e.g. llm.lab.internal; the certificate bears it.")
    address: Address | None = Field(
        default=None, description="The address that it answers at in phase 2; in phase 1 that is its server's own."
    )
    port: int = Field(default=443, ge=1, le=65535, description="The port that it answers at.")
    request_limit_mib: int = Field(default=16, ge=1, le=1024, description="The largest request body, in MiB.")
    request_timeout_s: int = Field(default=3600, ge=10, le=86400, description="The longest generation, in seconds.")
    replicas: int = Field(
        default=2, ge=1, le=16, description="Proxies; two let one be replaced without a refused call."
    )
