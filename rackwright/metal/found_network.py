"""The network of a host as it was found: what the module network_facts says, in words of the site."""

from dataclasses import dataclass
from typing import Any

from rackwright.metal.links import Link


@dataclass(frozen=True)
class FoundNetwork:
    """Ports by their present names, links, addresses and routes of iproute2, and files that configure them."""

    ports: dict[str, dict[str, str]]
    links: list[dict[str, Any]]
    addresses: list[dict[str, Any]]
    routes: list[dict[str, Any]]
    files: dict[str, str]
    name_servers: tuple[str, ...]

    @classmethod
    def of(cls, facts: dict[str, Any]) -> "FoundNetwork":
        """Out of the module's answer."""
        servers = tuple(facts["name_servers"])
        return cls(facts["ports"], facts["links"], facts["addresses"], facts["routes"], facts["files"], servers)

    def present_name(self, link: Link) -> str | None:
        """The name that a port has now; nothing where it is not in the machine."""
        key, wished = ("mac", link.mac) if link.mac else ("path", link.path)
        return next((name for name, port in self.ports.items() if port[key] == wished), None)

    def link(self, name: str) -> dict[str, Any]:
        """A link as iproute2 shows it; empty where there is none."""
        return next((each for each in self.links if each["ifname"] == name), {})

    def addresses_at(self, name: str) -> set[str]:
        """IPv4 addresses of a link, each with the length of its network."""
        found = next((each for each in self.addresses if each.get("ifname") == name), {})
        infos = found.get("addr_info", ())
        return {f"{each['local']}/{each['prefixlen']}" for each in infos if each["family"] == "inet"}
