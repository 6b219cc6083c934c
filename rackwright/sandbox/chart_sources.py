"""Where a rehearsal gets its charts and their definitions from."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rackwright.errors import Refusal
from rackwright.site.catalog import Catalog, Chart
from rackwright.user_path import user_path

STAND_INS = Path(__file__).parent / "charts"
UPSTREAM = "upstream"
# By chart: the projects whose definitions it would bring, as upstream's data names them.
PROJECTS = {
    "cert-manager": ("cert-manager",),
    "cloudnative-pg": ("cloudnative-pg",),
    "gpu-operator": ("gpu-operator", "node-feature-discovery"),
    "kserve-llmisvc-crd": (),  # its project has twelve, some of a megabyte, of which two are asked for
    "kserve-llmisvc-resources": (),
    "kube-prometheus-stack": ("prometheus-operator",),
    "langfuse": (),
    "lws": (),  # its project has three, two of more than a megabyte, of which one is asked for
    "plugin-barman-cloud": ("plugin-barman-cloud",),
    "qdrant": (),
    "topolvm": ("topolvm",),
}


@dataclass(frozen=True)
class ChartSource:
    """One chart: what it is, and where it lies if it is on this machine."""

    name: str
    what: str
    place: Path | None
    is_stand_in: bool


def chart_sources(catalog: Catalog, charts: str | None) -> tuple[ChartSource, ...]:
    """A source for every chart: stand-ins, the catalog's repositories, or a folder with stand-ins for what it lacks."""
    if charts == UPSTREAM:
        return tuple(_from_repository(name, pin) for name, pin in catalog.charts.items())
    if charts is None:
        return tuple(_stand_in(name) for name in catalog.charts)
    folder = user_path(charts).resolve()
    cure = "Name a folder, or `upstream`, or leave it out."
    if not charts.strip():
        raise Refusal("--charts names no folder.", cure)
    if not folder.is_dir():
        raise Refusal(f"The folder of charts {folder} is not there.", cure)
    found = tuple(_in_folder(folder, name, pin) for name, pin in catalog.charts.items())
    if all(each.is_stand_in for each in found):
        names = ", ".join(sorted(catalog.charts))
        raise Refusal(
            f"The folder {folder} holds none of the charts {names}.", "Put one folder a chart into it, by name."
        )
    return found


def lay_out(sources: Iterable[ChartSource], catalog: Catalog, folder: Path) -> Path | None:
    """One folder with a link to each chart, for the stack; none where charts come from their repositories."""
    placed = [each for each in sources if each.place is not None]
    if not placed:
        return None
    if all(each.is_stand_in for each in placed):
        return STAND_INS
    folder.mkdir()
    for each in placed:
        place = each.place or STAND_INS
        name = each.name if place.is_dir() else f"{each.name}-{catalog.charts[each.name].version}.tgz"
        (folder / name).symlink_to(place)
    return folder


def definition_folders(sources: Iterable[ChartSource], crds: Path | None) -> list[Path]:
    """Folders of definitions that go before the stand-ins' own; real charts bring theirs, and would collide."""
    if crds is None:
        return []
    if not crds.is_dir():
        raise Refusal(
            f"The folder of definitions {crds} is not there.", "Name one with a folder a project, or leave it out."
        )
    wanted = [project for each in sources if each.is_stand_in for project in PROJECTS.get(each.name, ())]
    found = [crds / project for project in wanted if any((crds / project).glob("*.yaml"))]
    if wanted and not found:
        raise Refusal(
            f"The folder {crds} holds definitions of none of {', '.join(wanted)}.", "Put one folder a project into it."
        )
    return found


def _stand_in(name: str) -> ChartSource:
    place = STAND_INS / name
    if not place.is_dir():
        raise Refusal(f"There is no stand-in for the chart {name}.", f"Make {place}, or use --charts upstream.")
    return ChartSource(name, "stand-in", place, is_stand_in=True)


def _from_repository(name: str, pin: Chart) -> ChartSource:
    return ChartSource(name, f"{pin.version} of {pin.repository}", None, is_stand_in=False)


def _in_folder(folder: Path, name: str, pin: Chart) -> ChartSource:
    for place in (folder / name, folder / f"{name}-{pin.version}.tgz"):
        if place.is_file() or (place / "Chart.yaml").is_file():
            return ChartSource(name, str(place), place, is_stand_in=False)
    others = sorted(folder.glob(f"{name}-[v0-9]*.tgz"))
    if others:
        raise Refusal(
            f"The catalog pins {name} {pin.version}, and {folder} holds {others[0].name}.", "Take the pinned one."
        )
    return _stand_in(name)
