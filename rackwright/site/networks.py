"""Networks between the machines, and what the machines need from outside."""

from pydantic import Field

from rackwright.site.settings import Address, Range, Server, Settings


class Network(Settings):
    """One layer-2 network with one MTU from end to end."""

    cidr: Range = Field(description="Its addresses.")
    mtu: int = Field(
        default=9000, ge=1280, le=9216, description="Jumbo, unless a switch says no; the same on every port."
    )
    gateway: Address | None = Field(default=None, description="Its default route, where it has one.")


class Networks(Settings):
    """The node network (25 GbE) carries requests and the cluster; the storage network (100 GbE) weights and copies."""

    nodes: Network = Field(description="The network of the hosts' addresses.")
    storage: Network | None = Field(
        default=None, description="The network of the hosts' storage addresses, if there is one."
    )
    name_servers: tuple[Address, ...] = Field(
        default=(), max_length=3, description="Resolvers; empty: the hosts keep theirs."
    )
    time_servers: tuple[Server, ...] = Field(
        min_length=1, description="NTP servers; certificates and tokens need one time."
    )
