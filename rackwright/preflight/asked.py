"""What a playbook asks at its end of whoever judges its hosts, and where that is kept; nothing of Ansible's own."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rackwright.site.hosts import Phase
from rackwright.site.site import Site

SECRETS = ("k3s_token",)


@dataclass(frozen=True)
class Asked:
    """The site and phase, every host's variables by its name, and what only the vault knows."""

    site: Site
    phase: Phase
    hosts: Mapping[str, Mapping[str, Any]]
    secrets: Mapping[str, str]
    excuse: tuple[str, ...]
    k3s: str  # where its releases come from, where the site's own variables say so


def asked(arguments: Mapping[str, Any], variables: Mapping[str, Any]) -> Asked:
    """From a task's arguments and variables; Refusal and SiteRefused as Site.load says."""
    hosts = {name: variables["hostvars"][name] for name in variables.get("ansible_play_hosts_all", [])}
    first: Mapping[str, Any] = next(iter(hosts.values()), {})
    return Asked(
        site=Site.load(arguments["site"]),
        phase=1 if int(arguments["phase"]) == 1 else 2,
        hosts=hosts,
        secrets={name: str(first[name]) for name in SECRETS if name in first},
        excuse=tuple(arguments.get("excuse") or ()),
        k3s=str(first.get("k3s_binary_source") or ""),
    )


def keep(text: str, data: Mapping[str, Any], file: str | None) -> None:
    """Write a judgement down for whoever started the playbook, if a file is named."""
    if file:
        Path(file).write_text(json.dumps({"text": text, "data": data}), encoding="utf-8")
