"""Where the tools of agents run: code that nobody has read, in pods that end by themselves."""

from collections.abc import Iterable
from ipaddress import IPv4Network
from typing import Annotated

from pydantic import Field, StringConstraints

from rackwright.site.settings import Form, Range, Settings

LINK_LOCAL = IPv4Network("169.254.0.0/16")
Port = Annotated[int, Field(ge=1, le=65535)]
RuntimeClass = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$"),
    Form("the name of a RuntimeClass"),
]


class WayOut(Settings):
    """Addresses and ports that pods may reach, beside names and what the platform gives them."""

    cidr: Range = Field(
        description="Addresses; networks of the site within a wider range stay shut, and are named by themselves."
    )
    ports: tuple[Port, ...] = Field(min_length=1, description="TCP ports.")

    def left_out(self, inside: Iterable[IPv4Network]) -> list[IPv4Network]:
        """Networks of the site that lie within wider addresses, and the link's own: a way into them is said alone."""
        shut = {*inside, LINK_LOCAL}
        return sorted(network for network in shut if network != self.cidr and network.subnet_of(self.cidr))


class Agents(Settings):
    """Tools on hosts with the role agents, in phase 2."""

    runtime_class: RuntimeClass | None = Field(
        default=None,
        description="The RuntimeClass that every tool must run in (gVisor, Kata), once the hosts have it; absent: the "
        "host's own kernel, and no tool may write outside its volumes.",
    )
    tool_cores: int = Field(default=2, ge=1, le=256, description="The most processor threads of one tool's pod.")
    tool_memory_gib: int = Field(default=4, ge=1, le=4096, description="The most memory of one tool's pod, in GiB.")
    longest_s: int = Field(
        default=900, ge=10, le=86_400, description="The longest that a tool may run, in seconds; then it is ended."
    )
    waiting: int = Field(default=1000, ge=1, le=20_000, description="Tools that run or wait at once; more are refused.")
    ways_out: tuple[WayOut, ...] = Field(
        default=(), description="What tools may reach beside names and the gateway; empty: nothing."
    )
