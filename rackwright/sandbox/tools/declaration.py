"""What is built, from which pinned module, and which foreign copy is good enough."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path

Version = tuple[int, int, int]

FOLDER = Path(__file__).parent


def parse_version(text: str) -> Version | None:
    """The first x.y.z in a text."""
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def spell(version: Version) -> str:
    """The version as people write it."""
    return ".".join(str(part) for part in version)


@dataclass(frozen=True)
class Family:
    """One Go module of ours that pins a set of programs; the pins stand in its go.mod and go.sum only."""

    name: str
    module: str
    """The upstream module whose version is the family's version."""
    packages: tuple[str, ...]
    """The main packages to build, `.` being a main of our own."""
    linker_flags: Callable[[str], str] = field(default=lambda _: "-s -w")
    """From the version, what the linker is told: some programs know their version no other way."""
    minutes: float = 1.0
    """How long a first build takes on two cores."""
    gigabytes: float = 1.0
    """How much disk a first build takes, Go's caches included."""
    output: str | None = None
    """The program's name where a main of our own would be called after its folder."""
    beside: tuple[str, ...] = ()
    """Scripts of ours that have to lie beside the programs."""
    pinned_with: str | None = None
    """The family whose go.mod this one is built from, where it has none of its own."""

    @property
    def folder(self) -> Path:
        """Where go.mod is."""
        return FOLDER / (self.pinned_with or self.name)

    @property
    def version(self) -> str:
        """What go.mod pins, with its leading v."""
        return pinned_version(self.folder / "go.mod", self.module)

    @property
    def release(self) -> str:
        """The version that the programs report, without a v: go.mod's, unless a main of ours has to know better."""
        main = self.folder / "main.go"
        said = re.search(r'^const version = "(\S+)"$', main.read_text(), re.MULTILINE) if main.exists() else None
        return said[1] if said else self.version.removeprefix("v")


@dataclass(frozen=True)
class Tool:
    """One program that a rehearsal runs."""

    name: str
    family: str
    ask: tuple[str, ...]
    """Arguments that make it print its version; none: it cannot tell."""
    accepts: Callable[[Version], bool]
    """Whether a copy of that version, found on PATH, will do."""
    wants: str
    """What `accepts` accepts, in words."""


@cache
def pinned_version(go_mod: Path, module: str) -> str:
    """The version at which a go.mod requires a module."""
    found = re.search(rf"^\s*(?:require\s+)?{re.escape(module)}\s+(v\S+)", go_mod.read_text(), re.MULTILINE)
    if found is None:
        raise ValueError(f"{go_mod} does not require {module}")
    return found[1]


def kubernetes_linker_flags(version: str) -> str:
    """Without these, clients cannot parse what the API server says that it is."""
    major, minor, _ = version.removeprefix("v").split(".")
    server, client = "k8s.io/component-base/version", "k8s.io/client-go/pkg/version"
    return (
        f"-s -w -X {server}.gitVersion={version} -X {server}.gitMajor={major} -X {server}.gitMinor={minor}"
        f" -X {client}.gitVersion={version} -X {client}.gitMajor={major} -X {client}.gitMinor={minor}"
    )


def pulumi_linker_flags(version: str) -> str:
    """Without it the engine calls itself version 3.0.0-dev, and programs refuse it."""
    return f"-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version={version}"


def containerd_linker_flags(version: str) -> str:
    """Without it containerd says that it is 2.0 and something, and who asks for its version is misled."""
    return f"-s -w -X github.com/containerd/containerd/v2/version.Version={version}"


RUNTIME = ("containerd", "containerd-shim-runc-v2", "ctr")
NETWORK_PROGRAMS = {"bridge": "main", "loopback": "main", "host-local": "ipam", "portmap": "meta"}

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family("etcd", "go.etcd.io/etcd/server/v3", (".",), minutes=1, gigabytes=0.6, output="etcd"),
        Family(
            "kwok",
            "sigs.k8s.io/kwok",
            ("sigs.k8s.io/kwok/cmd/kwok", "sigs.k8s.io/kwok/cmd/kwokctl"),
            minutes=2,
            gigabytes=1.5,
        ),
        Family(
            "kubernetes",
            "k8s.io/kubernetes",
            tuple(
                f"k8s.io/kubernetes/cmd/{name}"
                for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kubeadm")
            ),
            kubernetes_linker_flags,
            minutes=5,
            gigabytes=3,
        ),
        # What runs on a node: nothing of a rehearsal, so that who only rehearses does not wait for it.
        Family(
            "node",
            "k8s.io/kubernetes",
            ("k8s.io/kubernetes/cmd/kubelet", "k8s.io/kubernetes/cmd/kube-proxy"),
            kubernetes_linker_flags,
            minutes=3,
            gigabytes=3,
            pinned_with="kubernetes",
        ),
        Family(
            "runtime",
            "github.com/containerd/containerd/v2",
            (
                *(f"github.com/containerd/containerd/v2/cmd/{name}" for name in RUNTIME),
                *(
                    f"github.com/containernetworking/plugins/plugins/{kind}/{name}"
                    for name, kind in NETWORK_PROGRAMS.items()
                ),
                "sigs.k8s.io/cri-tools/cmd/crictl",
                "github.com/coredns/coredns",
            ),
            containerd_linker_flags,
            minutes=6,
            gigabytes=4,
        ),
        Family(
            "pulumi",
            "github.com/pulumi/pulumi/pkg/v3",
            ("github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",),
            pulumi_linker_flags,
            minutes=5,
            gigabytes=3,
            beside=("pulumi-language-python",),
        ),
        Family(
            "provider",
            "github.com/pulumi/pulumi-kubernetes/provider/v4",
            (".",),
            minutes=8,
            gigabytes=5,
            output="pulumi-resource-kubernetes",
        ),
    )
}


def kubernetes_minor() -> int:
    """The minor version of Kubernetes that is rehearsed on."""
    version = parse_version(FAMILIES["kubernetes"].version)
    return version[1] if version else 0


def pulumi_software_kit() -> Version:
    """The version of Pulumi's Python library that is installed here."""
    return parse_version(metadata.version("pulumi")) or (3, 0, 0)


def _of_the_same_minor(version: Version) -> bool:
    return version[:2] == (1, kubernetes_minor())


def _of_the_pinned_runtime(version: Version) -> bool:
    return version == parse_version(FAMILIES["runtime"].version)


_CONTROL_PLANE = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")

TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool("etcd", "etcd", ("--version",), lambda v: (3, 6) <= v[:2] < (4, 0), "3.6 or a later 3"),
        Tool("kwok", "kwok", ("--version",), lambda v: v[:2] == (0, 8), "0.8"),
        Tool("kwokctl", "kwok", ("--version",), lambda v: v[:2] == (0, 8), "0.8"),
        *(
            Tool(name, "kubernetes", ("--version",), _of_the_same_minor, f"1.{kubernetes_minor()}")
            for name in _CONTROL_PLANE
        ),
        Tool("kubeadm", "kubernetes", ("version", "-o", "short"), _of_the_same_minor, f"1.{kubernetes_minor()}"),
        *(
            Tool(name, "node", ("--version",), _of_the_same_minor, f"1.{kubernetes_minor()}")
            for name in ("kubelet", "kube-proxy")
        ),
        # For a node that is made here whole, of one set of pins: a copy on PATH would be somebody else's.
        *(
            Tool(name, "runtime", ("--version",), _of_the_pinned_runtime, "the very one that is pinned")
            for name in (*RUNTIME, *NETWORK_PROGRAMS, "crictl", "coredns")
        ),
        Tool(
            "kubectl",
            "kubernetes",
            ("version", "--client"),
            lambda v: v[0] == 1 and abs(v[1] - kubernetes_minor()) <= 1,
            f"1.{kubernetes_minor() - 1} to 1.{kubernetes_minor() + 1}",
        ),
        Tool(
            "pulumi",
            "pulumi",
            ("version",),
            lambda v: v[0] == 3 and v >= pulumi_software_kit(),
            "3, and no older than the Python library",
        ),
        # It has no word for its own version: it comes with the engine and is taken with it.
        Tool("pulumi-language-python", "pulumi", (), lambda _: True, "the engine's own"),
        Tool(
            "pulumi-resource-kubernetes", "provider", (), lambda v: v[0] == 4 and v >= (4, 25, 0), "4.25 or a later 4"
        ),
    )
}

NODE = ("kubeadm", "kubelet", "kube-proxy", *RUNTIME, *NETWORK_PROGRAMS, "crictl", "coredns")
CONTROL_PLANE = ("etcd", *_CONTROL_PLANE, "kubectl", "kwok", "kwokctl")
PULUMI = ("pulumi", "pulumi-language-python", "pulumi-resource-kubernetes")
REHEARSAL = (*CONTROL_PLANE, *PULUMI)
