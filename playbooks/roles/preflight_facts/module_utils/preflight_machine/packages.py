"""What the configured repositories offer, what is installed, and what is held; nothing is refreshed in place."""

from __future__ import annotations

import re
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from .probes import fetchable
from .reading import FOLDERS, names, run, text

LISTS = "/var/lib/apt/lists"
OF_INTEREST = (
    "*nvidia*",
    "cuda-drivers*",
    "*fabricmanager*",
    "nvlsm",
    "docker.io",
    "docker-ce",
    "moby-engine",
    "containerd",
    "containerd.io",
    "kubelet",
    "kubeadm",
    "k3s-selinux",
    "kernel-devel",
)
INDEX_FORMAT = "$(REPO_URI) $(RELEASE)"
FETCH_SECONDS = 90
QUERY_FORMAT = "%{name} %{version}-%{release}.%{arch} %{repoid}\\n"
PROXY_OF_APT = re.compile(r'^Acquire::(https?)::Proxy "([^"]+)";$', re.MULTILINE | re.IGNORECASE)
PROXY_OF_DNF = re.compile(r"^proxy\s*=\s*(\S+)\s*$", re.MULTILINE)
NO_CACHE = ["-o", "Dir::Cache::pkgcache=", "-o", "Dir::Cache::srcpkgcache="]  # else apt renews its index in place


def packages(wanted: list[str]) -> dict[str, Any]:
    """By whichever of the two package systems is here."""
    if shutil.which("apt-cache", path=FOLDERS):
        return _apt(wanted)
    return _dnf(wanted) if shutil.which("dnf", path=FOLDERS) else {"system": ""}


def addresses(urls: list[str]) -> dict[str, str]:
    """Why each web address cannot be read, through the proxy that packages come through; empty where it can."""
    if not urls:
        return {}
    proxies = _proxies()
    with ThreadPoolExecutor(8) as pool:
        return dict(zip(urls, pool.map(lambda url: fetchable(url, proxies), urls)))  # noqa: B905 - Python 3.9 has no strict


def _proxies() -> dict[str, str] | None:
    """The proxies of the package system, by scheme; nothing where it has none, and those of the environment count."""
    found = dict(PROXY_OF_APT.findall(run(["apt-config", "dump"])["out"]))
    match = PROXY_OF_DNF.search(text("/etc/dnf/dnf.conf") or "")
    if match:
        found = {"http": match[1], "https": match[1]}
    if "http" in found:
        found.setdefault("https", found["http"])
    return found or None


def _apt(wanted: list[str]) -> dict[str, Any]:
    has_lists = any(name.endswith(("Release", "InRelease")) for name in names(LISTS))
    dumped = run(["apt-config", "dump"])["out"].splitlines()
    kept = [line for line in dumped if line.startswith(("APT::Periodic", "Unattended-Upgrade"))]
    return {
        "system": "apt",
        "repositories": _apt_repositories(),
        "offered": run(["apt-cache", "policy", *NO_CACHE, *wanted]) if has_lists else _apt_fetched(wanted),
        "installed": run(["dpkg-query", "-W", "-f", "${db:Status-Abbrev} ${Package} ${Version}\\n", *OF_INTEREST]),
        "held": run(["apt-mark", "showhold"]),
        "automatic": "\n".join(kept),
    }


def _apt_repositories() -> dict[str, str]:
    """Each configured suite's release file, asked whether it is there."""
    said = run(["apt-get", "indextargets", *NO_CACHE, "--format", INDEX_FORMAT, "Created-By: Packages"])["out"]
    lines = {line for line in said.splitlines() if line.startswith("http")}
    suites = sorted({tuple(line.split(" ", 1)) for line in lines if " " in line})
    return addresses([f"{base.rstrip('/')}/dists/{release}/InRelease" for base, release in suites])


def _apt_fetched(wanted: list[str]) -> dict[str, Any]:
    """A machine that never fetched its package lists: they come into a folder of this run's own."""
    with tempfile.TemporaryDirectory(prefix="preflight-") as folder:
        Path(folder, "lists", "partial").mkdir(parents=True)
        Path(folder, "cache", "archives", "partial").mkdir(parents=True)
        own = ["-o", f"Dir::State::lists={folder}/lists", "-o", f"Dir::Cache={folder}/cache"]
        own += ["-o", "APT::Sandbox::User=root", "-o", "APT::Update::Post-Invoke-Success::="]
        fetched = run(["apt-get", "update", "-q", *own], FETCH_SECONDS)
        return fetched if fetched["code"] else run(["apt-cache", "policy", *own, *wanted])


def _dnf(wanted: list[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="preflight-") as folder:
        ask = ["dnf", "-q", f"--setopt=logdir={folder}", "repoquery", "--qf", QUERY_FORMAT, *wanted]
        offered = run([*ask, "-C"], 60)
        if offered["code"]:  # no cache of its own yet: one of this run's
            offered = run([*ask, f"--setopt=cachedir={folder}"], FETCH_SECONDS)
    return {
        "system": "dnf",
        "repositories": {},
        "offered": offered,
        "installed": run(["rpm", "-qa", "--qf", "ii  %{NAME} %{VERSION}-%{RELEASE}.%{ARCH}\\n", *OF_INTEREST]),
        "held": run(["cat", "/etc/dnf/plugins/versionlock.list"]),
        "automatic": text("/etc/dnf/automatic.conf") or "",
    }
