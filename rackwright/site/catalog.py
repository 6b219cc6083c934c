"""Everything from upstream that Rackwright uses, at one version each, and what is known to fit together."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from rackwright.site.settings import Form, Settings

FILE = Path(__file__).resolve().parents[2] / "inventory" / "catalog.yml"

Digest = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$"), Form("sha256: and 64 hexadecimal digits")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$"), Form("64 hexadecimal digits")]
Fingerprint = Annotated[str, StringConstraints(pattern=r"^[0-9A-F]{40}$"), Form("40 hexadecimal digits, in capitals")]
Minor = Annotated[str, StringConstraints(pattern=r"^1\.\d+$"), Form('a minor in quotes, such as "1.36"')]


class Chart(Settings):
    """A Helm chart."""

    repository: str = Field(description="Where it is published, an address for `helm --repo` or an oci:// folder.")
    version: str = Field(description="Its version.")


class Image(Settings):
    """A container image."""

    repository: str = Field(description="Its name with the registry.")
    tag: str = Field(description="Its tag.")
    digest: Digest | None = Field(default=None, description="Its digest, where known.")

    @property
    def reference(self) -> str:
        """What a pod asks for."""
        return f"{self.repository}:{self.tag}" + (f"@{self.digest}" if self.digest else "")


class Driver(Settings):
    """One branch of the NVIDIA driver."""

    version: str = Field(description="The exact version.")
    fabric_manager: str = Field(description="The fabric manager's version, which must be the driver's.")
    flavours: tuple[Literal["open", "proprietary"], ...] = Field(description="Kernel modules that the branch has.")
    families: tuple[str, ...] = Field(description="GPU families that the branch drives.")


class Kubernetes(Settings):
    """The one minor of Kubernetes, as k3s and as kubeadm."""

    minor: Minor = Field(description="The minor that everything is chosen for.")
    k3s: str = Field(description="The k3s release of phase 1.")
    kubeadm: str = Field(description="The release of kubeadm, kubelet and kubectl in phase 2.")


class Binary(Settings):
    """A program that comes as a file, for x86-64."""

    published: str = Field(description="Where its releases are, a folder for each version.")
    sha256: dict[str, Sha256] = Field(default={}, description="What the file hashes to, by version.")


class Engine(Settings):
    """What one release of vLLM knows: it ends at once when it is told anything else."""

    version: str = Field(description="The release that this was read from, as the image's tag has it.")
    oldest_driver_branch: int = Field(description="The oldest driver branch that its CUDA runs on.")
    tool_call_parsers: tuple[str, ...] = Field(min_length=1, description="Names for --tool-call-parser.")
    reasoning_parsers: tuple[str, ...] = Field(min_length=1, description="Names for --reasoning-parser.")
    metrics: tuple[str, ...] = Field(
        min_length=1, description="Its metrics as its source names them; counters are exported with _total."
    )
    source: str = Field(description="Where it was read.")


class Router(Settings):
    """What one release of llm-d's router knows: it ends at start when a configuration names anything else."""

    version: str = Field(description="The release that this was read from, as the image's tag has it.")
    configuration_api: str = Field(description="Group and version of an EndpointPickerConfig.")
    objective_api: str = Field(description="Group and version of an InferenceObjective.")
    pool_api: str = Field(description="Group and version of an InferencePool.")
    plugins: tuple[str, ...] = Field(min_length=1, description="Types of plugins that it registers.")
    source: str = Field(description="Where it was read.")


class Kserve(Settings):
    """What one release of KServe reads and writes: it shares kinds with the router, and there is one owner of them."""

    version: str = Field(description="The release that this was read from, as its charts have it.")
    service_api: str = Field(description="Group and version of an LLMInferenceService.")
    objective_api: str = Field(description="Group and version of the InferenceObjectives that its pickers may read.")
    pool_api: str = Field(description="Group and version of the InferencePool that it makes.")
    source: str = Field(description="Where it was read.")


class Fit(Settings):
    """What upstream says that one version of a component goes with."""

    kubernetes: tuple[str, ...] = Field(
        default=(), description="Minors of Kubernetes that upstream states; empty: any."
    )
    kubernetes_tried: tuple[str, ...] = Field(
        default=(), description="Minors that upstream does not state, where it was tried here; validation says so."
    )
    drivers: tuple[str, ...] = Field(default=(), description="Driver versions; empty: any.")
    systems: dict[Literal["k3s", "kubeadm"], tuple[str, ...]] = Field(
        default={}, description="Systems that upstream states, by distribution of Kubernetes; others are noted."
    )
    goes_with: dict[str, tuple[str, ...]] = Field(
        default={}, description="By another component of the catalog, what its version begins with."
    )
    source: str = Field(description="Where upstream says so.")


class Catalog(Settings):
    """The pins, and the sets that fit."""

    kubernetes: Kubernetes = Field(description="The one minor of Kubernetes.")
    drivers: dict[int, Driver] = Field(min_length=1, description="Exact versions by driver branch.")
    packages: dict[str, str] = Field(description="Versions of packages on the hosts.")
    binaries: dict[str, Binary] = Field(description="Programs that come as a file.")
    signing_keys: dict[str, Fingerprint] = Field(
        description="Fingerprints of the keys that sign repositories of packages."
    )
    charts: dict[str, Chart] = Field(description="Helm charts by name.")
    images: dict[str, Image] = Field(description="Images that our own objects name.")
    engine: Engine = Field(description="What the pinned vLLM knows.")
    router: Router = Field(description="What the pinned router of llm-d knows.")
    kserve: Kserve = Field(description="What the pinned KServe reads and writes.")
    fits: dict[str, dict[str, Fit]] = Field(description="By component, by version, what it goes with.")

    @classmethod
    def load(cls, file: Path = FILE) -> "Catalog":
        """The catalog of this checkout, or of another file; CatalogRefused lists every fault."""
        return _load(file)

    def version(self, component: str) -> str | None:
        """The pinned version of a chart, an image or a package."""
        if component in self.charts:
            return self.charts[component].version
        if component in self.images:
            return self.images[component].tag
        return self.packages.get(component)

    def pinned_fits(self) -> dict[str, Fit]:
        """What the pinned version of each component goes with, as far as upstream says."""
        found = {component: versions.get(self.version(component) or "") for component, versions in self.fits.items()}
        return {component: fit for component, fit in found.items() if fit}


@cache
def _load(file: Path) -> Catalog:
    from rackwright.site import catalog_rules  # noqa: PLC0415 - the rules are about the class above
    from rackwright.site.reading.check import check  # noqa: PLC0415 - only whoever loads needs it
    from rackwright.site.reading.document import read  # noqa: PLC0415 - only whoever loads needs it
    from rackwright.site.reading.faults import CatalogRefused  # noqa: PLC0415 - only whoever loads needs it
    from rackwright.site.reading.judge import Broken, judge, rules_in  # noqa: PLC0415 - only whoever loads needs it

    def judges(catalog: Catalog) -> Iterator[Broken]:
        return (each for _, each in judge(rules_in(catalog_rules), {"catalog": catalog}))

    return check(Catalog, read(file), judges, CatalogRefused)
