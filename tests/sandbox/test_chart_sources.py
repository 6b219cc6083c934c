"""Where charts come from, and that the stack finds them there."""

from pathlib import Path

import pytest

from components.base import Chart
from rackwright.errors import Refusal
from rackwright.sandbox.chart_sources import STAND_INS, chart_sources, definition_folders, lay_out
from rackwright.site.catalog import Catalog

CATALOG = Catalog.load()


def found_by_the_stack(folder: Path | None) -> dict[str, str]:
    return {name: Chart(name, pin, folder).source()["chart"] for name, pin in CATALOG.charts.items()}


def put_chart(folder: Path, name: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "Chart.yaml").write_text(f"apiVersion: v2\nname: {name}\nversion: 1.2.3\n")


def test_every_chart_of_the_catalog_has_a_stand_in(tmp_path):
    sources = chart_sources(CATALOG, None)
    assert all(each.is_stand_in for each in sources)
    folder = lay_out(sources, CATALOG, tmp_path / "charts")
    assert folder == STAND_INS
    assert set(found_by_the_stack(folder)) == set(CATALOG.charts)


def test_upstream_means_the_catalogs_repositories(tmp_path):
    sources = chart_sources(CATALOG, "upstream")
    assert not any(each.is_stand_in for each in sources)
    assert lay_out(sources, CATALOG, tmp_path / "charts") is None
    assert definition_folders(sources, None) == []


def test_a_folder_is_used_for_what_it_has_and_stand_ins_for_the_rest(tmp_path):
    put_chart(tmp_path / "mine", "qdrant")
    archive = tmp_path / "mine" / f"topolvm-{CATALOG.charts['topolvm'].version}.tgz"
    archive.write_bytes(b"")
    sources = {each.name: each for each in chart_sources(CATALOG, str(tmp_path / "mine"))}
    assert {name for name, each in sources.items() if not each.is_stand_in} == {"qdrant", "topolvm"}
    found = found_by_the_stack(lay_out(sources.values(), CATALOG, tmp_path / "charts"))
    assert Path(found["qdrant"]).resolve() == tmp_path / "mine" / "qdrant"
    assert Path(found["topolvm"]).resolve() == archive
    assert Path(found["cert-manager"]).resolve() == STAND_INS / "cert-manager"


def test_an_archive_of_another_version_is_refused(tmp_path):
    (tmp_path / "qdrant-0.0.1.tgz").write_bytes(b"")
    with pytest.raises(Refusal, match=r"holds qdrant-0\.0\.1\.tgz"):
        chart_sources(CATALOG, str(tmp_path))


@pytest.mark.parametrize("charts", ["", " "])
def test_no_folder_at_all_is_not_the_one_that_one_stands_in(charts):
    with pytest.raises(Refusal, match="names no folder"):
        chart_sources(CATALOG, charts)


def test_definitions_are_taken_for_stand_ins_only(tmp_path):
    for project in ("cert-manager", "node-feature-discovery", "lws"):
        (tmp_path / "crds" / project).mkdir(parents=True)
        (tmp_path / "crds" / project / "a.yaml").write_text("")
    folders = definition_folders(chart_sources(CATALOG, None), tmp_path / "crds")
    assert [folder.name for folder in folders] == ["cert-manager", "node-feature-discovery"]
    put_chart(tmp_path / "mine", "cert-manager")
    real = chart_sources(CATALOG, str(tmp_path / "mine"))
    assert [folder.name for folder in definition_folders(real, tmp_path / "crds")] == ["node-feature-discovery"]
