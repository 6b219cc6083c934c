"""A site as guests play it: the very file, with the one system that can be booted, and without its secrets."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import yaml

from rackwright.errors import Refusal
from rackwright.guests.hardware import BOOTED
from rackwright.site.site import Site

FILE = "site.yml"
SECRETS = ("secrets.yml", ".vault-password")


def as_booted(site: Site) -> Site:
    """The site with guests' system in the place of its own."""
    hosts = tuple(host.model_copy(update={"operating_system": None}) for host in site.hosts)
    return site.model_copy(update={"operating_system": BOOTED, "hosts": hosts})


def lay_out(source: Path, target: Path, kubeconfigs: Path | None = None) -> None:
    """Make the folder that Ansible is given; Refusal where the site is none once its system is another.

    Where a folder for them is given, kubeconfigs of the site's clusters are written there, and not over the real ones.
    """
    data = with_system(yaml.safe_load((source / FILE).read_text(encoding="utf-8")))
    if kubeconfigs:
        for phase, cluster in data["clusters"].items():
            cluster["kubeconfig"] = str(kubeconfigs / phase)
    target.mkdir(mode=0o700)
    (target / FILE).write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    for name in ("group_vars", "host_vars"):
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name, ignore=shutil.ignore_patterns(*SECRETS))
    try:
        Site.load(target)
    except Refusal as refusal:
        raise Refusal(
            f"Guests are Debian 13, and as such the site is refused: {refusal.what}",
            "Try what depends on its own system on a machine that runs it.",
        ) from None


def with_system(data: dict[str, Any]) -> dict[str, Any]:
    """A site's plain data with guests' system everywhere."""
    hosts = [{key: value for key, value in host.items() if key != "operating_system"} for host in data["hosts"]]
    return {**data, "operating_system": BOOTED.model_dump(mode="json"), "hosts": hosts}
