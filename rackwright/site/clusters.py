"""One Kubernetes cluster a phase: k3s on the first server, kubeadm on the rack."""

from ipaddress import IPv4Network
from typing import Annotated

from pydantic import Field, StringConstraints

from rackwright.site.settings import Address, Form, Range, Settings

HomePath = Annotated[
    str,
    StringConstraints(pattern=r"^(~/|/)[^\s].*$"),
    Form("a path that begins with ~/ or /, the same from every folder"),
]


class Cluster(Settings):
    """Where a cluster answers and which addresses it gives out."""

    api: Address = Field(
        description="The address of its API: the server's own in phase 1, a free virtual one in phase 2."
    )
    kubeconfig: HomePath = Field(
        description="The file that opens it, e.g. ~/.kube/lab-phase1; `~` is your home folder."
    )
    pods: Range = Field(default=IPv4Network("10.42.0.0/16"), description="Addresses of pods.")
    services: Range = Field(default=IPv4Network("10.43.0.0/16"), description="Addresses of services.")


class Clusters(Settings):
    """The clusters of the site's life; a site without a phase 2 leaves it out."""

    phase1: Cluster | None = Field(default=None, description="The k3s cluster of one server.")
    phase2: Cluster | None = Field(default=None, description="The kubeadm cluster of the rack.")
