"""From the names of programs to programs that are there."""

from __future__ import annotations

from collections.abc import Iterable

from rackwright.sandbox import disk
from rackwright.sandbox.locks import Progress, silence
from rackwright.sandbox.tools import cache, plugins, search
from rackwright.sandbox.tools.build import build
from rackwright.sandbox.tools.declaration import FAMILIES, TOOLS, Family
from rackwright.sandbox.tools.toolbox import Found, Source, Toolbox

LANGUAGE_HOST, PROVIDER = "pulumi-language-python", "pulumi-resource-kubernetes"


def find(names: Iterable[str]) -> Toolbox:
    """The programs that are there already; those that are not are left out, and nothing is built."""
    found: dict[str, Found] = {}
    passed_over: list[str] = []
    for name in names:
        program, complaint = _look_for(name)
        if program:
            found[name] = program
        if complaint:
            passed_over.append(complaint)
    return Toolbox(found, tuple(passed_over))


def ensure(names: Iterable[str], progress: Progress = silence) -> Toolbox:
    """The programs: on PATH at a version that will do, else built earlier, else built now; a Refusal if that cannot be.

    A first build of everything takes about 20 minutes on two cores; `progress` hears that first.
    """
    wanted = tuple(names)
    there = find(wanted)
    fetched = _fetch(there, wanted, progress)
    missing = [name for name in wanted if name not in there and name not in fetched]
    if missing:
        for complaint in there.passed_over:
            progress(complaint)
        families = [
            family for family in FAMILIES.values() if any(TOOLS[name].family == family.name for name in missing)
        ]
        _announce(families, progress)
        with disk.written(cache.cache_folder()):
            for family in families:
                build(family, progress)
    got = {**there, **fetched, **{name: _built(name) for name in missing}}
    return Toolbox({name: got[name] for name in wanted}, there.passed_over)


def _fetch(there: Toolbox, wanted: tuple[str, ...], progress: Progress) -> dict[str, Found]:
    """The provider, where an official engine can fetch it: that takes seconds, and building it minutes."""
    engine = there.get("pulumi")
    if PROVIDER not in wanted or PROVIDER in there or engine is None or engine.source is not Source.PATH:
        return {}
    provider = plugins.fetch_provider(TOOLS[PROVIDER], engine, progress)
    return {PROVIDER: provider} if provider else {}


def _look_for(name: str) -> tuple[Found | None, str | None]:
    tool = TOOLS[name]
    if name == LANGUAGE_HOST:
        engine, _ = search.on_path(TOOLS["pulumi"])
        return (plugins.language_host(tool, engine) if engine else search.in_cache(tool)), None
    if name == PROVIDER:
        return plugins.provider_plugin(tool) or search.in_cache(tool), None
    found, complaint = search.on_path(tool)
    return found or search.in_cache(tool), complaint


def _built(name: str) -> Found:
    found = search.in_cache(TOOLS[name])
    if found is None:
        raise RuntimeError(f"{name} is missing from the build of its family")
    source = found.source if found.source is Source.OURS else Source.BUILT
    return Found(found.tool, found.path, found.version, source)


def _announce(families: list[Family], progress: Progress) -> None:
    minutes = sum(family.minutes for family in families)
    names = ", ".join(family.name for family in families)
    progress(
        f"To be built first, once: {names}. That takes about {minutes:.0f} min on two cores; the programs are kept in "
        f"{cache.cache_folder()} for every checkout."
    )
