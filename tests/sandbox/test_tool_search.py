"""Which copy of a program is taken."""

import importlib
import json
from importlib import metadata

import pytest
from pretended_programs import pretend, script

from rackwright.sandbox import tools
from rackwright.sandbox.tools import cache, search
from rackwright.sandbox.tools.declaration import FAMILIES, TOOLS, parse_version
from rackwright.site.catalog import Catalog


def put_in_cache(name: str) -> None:
    """What a build of the program's family leaves behind."""
    family = FAMILIES[TOOLS[name].family]
    folder = cache.home(family)
    for tool in TOOLS.values():
        if tool.family == family.name:
            pretend(folder / "bin", tool.name, "v0.0.0")
    cache.seal(folder, {"version": family.version})


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("etcd", "etcd Version: 3.6.4\nGit SHA: x\nGo Version: go1.24.9"),
        ("kube-apiserver", "Kubernetes v1.36.0"),
        ("kubectl", "Client Version: v1.35.7\nKustomize Version: v5.7.1"),
        ("kubectl", "Client Version: v1.37.0"),
        ("kwok", "kwok version v0.8.3 go1.26.1 (linux/amd64)"),
        ("pulumi", "v3.999.0"),
    ],
)
def test_a_compatible_program_on_path_is_taken(bare, name, says):
    program = pretend(bare, name, says)
    found = tools.find([name])[name]
    assert (found.path, found.source) == (program, tools.Source.PATH)
    assert parse_version(found.version) == parse_version(says)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("etcd", "etcd Version: 3.4.27"),
        ("kube-apiserver", "Kubernetes v1.35.9"),
        ("kubectl", "Client Version: v1.32.4-dispatcher"),
        ("kwok", "kwok version v0.7.0"),
        ("pulumi", "v2.25.2"),
        ("pulumi", "v3.100.0"),
    ],
)
def test_an_incompatible_one_is_passed_over_and_the_reason_told(bare, name, says):
    pretend(bare, name, says)
    there = tools.find([name])
    assert name not in there
    (sentence,) = there.passed_over
    assert name in sentence
    assert "passed over" in sentence


@pytest.mark.parametrize(
    "body", ["exit 1", "echo v3.999.0; exit 1", "echo nothing", "kill -9 $$", "printf '\\377\\376'"]
)
def test_a_program_that_does_not_tell_its_version_is_passed_over(bare, body):
    script(bare, "pulumi", body)
    there = tools.find(["pulumi"])
    assert "pulumi" not in there
    assert "does not tell its version" in there.passed_over[0]


def test_a_program_that_hangs_is_passed_over(bare, monkeypatch):
    monkeypatch.setattr(search, "SECONDS_TO_ANSWER", 0.2)
    script(bare, "etcd", "exec /bin/sleep 60")
    assert "does not tell its version" in tools.find(["etcd"]).passed_over[0]


def test_path_comes_before_the_cache(bare):
    put_in_cache("etcd")
    assert tools.find(["etcd"])["etcd"].source is tools.Source.CACHE
    pretend(bare, "etcd", "etcd Version: 3.6.4")
    search.ask.cache_clear()
    assert tools.find(["etcd"])["etcd"].source is tools.Source.PATH


@pytest.mark.usefixtures("bare")
def test_a_cached_program_that_is_on_path_is_still_called_a_cached_one(monkeypatch):
    put_in_cache("kwok")
    monkeypatch.setenv("PATH", str(cache.home(FAMILIES["kwok"]) / "bin"))
    assert tools.find(["kwok"])["kwok"].source is tools.Source.CACHE


@pytest.mark.usefixtures("bare")
def test_a_cache_entry_that_lost_a_byte_is_not_trusted():
    put_in_cache("etcd")
    program = cache.home(FAMILIES["etcd"]) / "bin" / "etcd"
    program.write_bytes(program.read_bytes()[:-1])
    assert "etcd" not in tools.find(["etcd"])


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("manifest", ["", "{", "[]", '{"sizes": 3}', '{"sizes": {"etcd": "x"}}'])
def test_a_cache_entry_with_a_broken_manifest_is_not_trusted(manifest):
    put_in_cache("etcd")
    (cache.home(FAMILIES["etcd"]) / cache.MANIFEST).write_text(manifest)
    assert "etcd" not in tools.find(["etcd"])


def test_the_official_language_host_goes_with_the_official_engine(bare):
    pretend(bare, "pulumi", "v3.999.0")
    host = pretend(bare, "pulumi-language-python", "")
    found = tools.find(["pulumi", "pulumi-language-python"])["pulumi-language-python"]
    assert (found.path, found.source) == (host, tools.Source.PATH)


def test_an_engine_without_a_language_host_gets_ours(bare):
    pretend(bare, "pulumi", "v3.999.0")
    found = tools.find(["pulumi-language-python"])["pulumi-language-python"]
    assert found.source is tools.Source.OURS
    assert found.path.stat().st_mode & 0o111


def test_an_old_official_engine_does_not_lend_its_language_host(bare):
    pretend(bare, "pulumi", "v3.100.0")
    pretend(bare, "pulumi-language-python", "")
    put_in_cache("pulumi")
    assert tools.find(["pulumi-language-python"])["pulumi-language-python"].source is tools.Source.OURS


@pytest.mark.usefixtures("bare")
def test_the_newest_fitting_plugin_of_an_official_pulumi_is_taken(tmp_path):
    plugins = tmp_path / "home" / ".pulumi" / "plugins"
    for version in ("4.9.0", "4.34.2", "4.30.1", "5.0.0"):
        pretend(plugins / f"resource-kubernetes-v{version}", "pulumi-resource-kubernetes", "")
    found = tools.find(["pulumi-resource-kubernetes"])["pulumi-resource-kubernetes"]
    assert (found.version, found.source) == ("4.34.2", tools.Source.PLUGINS)


@pytest.mark.usefixtures("bare")
def test_plugins_are_looked_for_where_pulumi_is_told_to_live(tmp_path, monkeypatch):
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path / "elsewhere"))
    pretend(tmp_path / "elsewhere/plugins/resource-kubernetes-v4.34.2", "pulumi-resource-kubernetes", "")
    assert "pulumi-resource-kubernetes" in tools.find(["pulumi-resource-kubernetes"])


FETCHES = """
[ "$1" = version ] && echo v3.999.0 && exit
[ -e "$HOME/offline" ] && exit 1
place="$HOME/.pulumi/plugins/resource-kubernetes-v$5"
/bin/mkdir -p "$place"
printf '#!/bin/sh\\n' > "$place/pulumi-resource-kubernetes"
/bin/chmod +x "$place/pulumi-resource-kubernetes"
"""


def test_an_official_engine_fetches_its_provider(bare):
    script(bare, "pulumi", FETCHES)
    said: list[str] = []
    found = tools.ensure(["pulumi", "pulumi-resource-kubernetes"], said.append)["pulumi-resource-kubernetes"]
    assert (found.version, found.source) == (metadata.version("pulumi-kubernetes"), tools.Source.PLUGINS)
    assert said == [f"Fetching Pulumi's Kubernetes provider {found.version}."]


def test_where_it_cannot_the_provider_is_built(bare, tmp_path, monkeypatch):
    script(bare, "pulumi", FETCHES)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "offline").touch()
    module = importlib.import_module("rackwright.sandbox.tools.ensure")
    monkeypatch.setattr(module, "build", lambda *_: put_in_cache("pulumi-resource-kubernetes"))
    found = tools.ensure(["pulumi", "pulumi-resource-kubernetes"])["pulumi-resource-kubernetes"]
    assert found.source is tools.Source.BUILT


def test_what_is_missing_is_built_and_announced_with_its_time(bare, monkeypatch):
    pretend(bare, "kubectl", "Client Version: v1.32.4")
    module = importlib.import_module("rackwright.sandbox.tools.ensure")
    monkeypatch.setattr(module, "build", lambda family, _: put_in_cache(family.packages[0].rpartition("/")[2]))
    said: list[str] = []
    found = tools.ensure(["kubectl", "kwok"], said.append)
    assert {name: each.source for name, each in found.items()} == dict.fromkeys(["kubectl", "kwok"], tools.Source.BUILT)
    assert "kubectl on PATH is 1.32.4" in said[0]
    assert "To be built first, once: kwok, kubernetes. That takes about 7 min" in said[1]


def test_the_environment_puts_what_was_found_elsewhere_ahead_of_path(bare):
    pretend(bare, "kubectl", "Client Version: v1.36.0")
    put_in_cache("kwok")
    path = tools.find(["kubectl", "kwok"]).environment()["PATH"].split(":")
    assert path == [str(cache.home(FAMILIES["kwok"]) / "bin"), str(bare)]


def test_the_report_is_plain_data_that_tells_the_source(bare):
    pretend(bare, "etcd", "etcd Version: 3.6.4")
    (row,) = json.loads(json.dumps(tools.find(["etcd"]).report()))
    assert row == {"name": "etcd", "version": "3.6.4", "source": "found on PATH", "path": str(bare / "etcd")}


def test_every_tool_has_a_family_and_every_family_a_pin():
    assert {tool.family for tool in TOOLS.values()} == set(FAMILIES)
    for family in FAMILIES.values():
        assert parse_version(family.version)
        assert (family.folder / "go.sum").stat().st_size
        for script_name in family.beside:
            assert (family.folder / script_name).stat().st_mode & 0o111


def test_the_rehearsal_runs_the_kubernetes_of_the_catalog():
    assert FAMILIES["kubernetes"].version.startswith(f"v{Catalog.load().kubernetes.minor}.")


def test_the_pins_are_what_the_rules_accept():
    for tool in TOOLS.values():
        assert tool.accepts(parse_version(FAMILIES[tool.family].release)), tool.name
