"""From one release of k3s to another: which steps there are."""

import re

RELEASE = re.compile(r"^v1\.(\d{1,3})\.(\d{1,3})\+k3s(\d{1,3})$")


def step_refused(installed: str, wished: str) -> str:
    """Why a node cannot go from one release to another in one step; empty where it can, or has nothing to do."""
    here, there = RELEASE.match(installed), RELEASE.match(wished)
    if not installed:
        return "no k3s runs here that could be upgraded. Run playbooks/k3s.yml."
    if here is None or there is None:
        return f"k3s {installed if here is None else wished} is no release that is known by its name."
    minor, next_minor = int(here[1]), int(there[1])
    if tuple(map(int, there.groups())) < tuple(map(int, here.groups())):
        return (
            f"k3s {installed} runs, and the catalog says {wished}, which is older. Kubernetes does not go back: write "
            "the newer one into the catalog, or restore a snapshot that the older one took."
        )
    if next_minor > minor + 1:
        return (
            f"k3s {installed} runs, and the catalog says {wished}. Minors are passed one by one: write a release of "
            f"1.{minor + 1} into the catalog first."
        )
    return ""
