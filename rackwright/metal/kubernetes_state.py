"""What is done with a host that is to be in the cluster: nothing, found it, or join it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import yaml

from rackwright.errors import Refusal

MARK_FILE = "/etc/kubernetes/rackwright.yaml"
BEGUN, DONE = "begun", "done"
AGAIN = "Mend it (journalctl --unit kubelet on it says why), and run this again"


class Step(NamedTuple):
    """The act (`none`, `found`, `join`), the control host that lets it in, and whether a half-made node is cleared."""

    act: str
    through: str | None
    clears: bool


def mark(site: str, api: str, state: str) -> str:
    """What is written beside a node's files: whose it is, and whether it was ever whole."""
    return yaml.safe_dump({"site": site, "api": api, "state": state}, sort_keys=False)


def found_state(mark_text: str | None, kubelet_file: str, *, site: str, api: str, own: str = "") -> str:
    """`new`, `half` or `member`, by the mark and by the file that a kubelet speaks to its API by; None is no mark.

    A control host's kubelet speaks to the API at the host's `own` address, every other one to the cluster's.
    Raises Refusal where the host is another cluster's: nothing of that is taken away here.
    """
    said = _parsed(mark_text or "")
    if said.get("api", api) != api:
        raise _of_another(str(said["api"]), api, site)
    if said.get("state") == BEGUN:
        return "half"
    if not kubelet_file:
        return "new" if mark_text is None else "half"
    servers = [each["cluster"]["server"] for each in _parsed(kubelet_file).get("clusters") or ()]
    if not servers or not set(servers) <= {f"https://{each}:6443" for each in (api, own)}:
        raise _of_another(", ".join(servers) or "an address that is not said", api, site)
    return "member"  # also where it was joined by hand, or the mark was lost


def step(name: str, *, controls: Sequence[str], state: str, answering: Sequence[str], members: Sequence[str]) -> Step:
    """The next act on a host; `answering` are control hosts whose API does, `members` those that were ever whole.

    Raises Refusal where a cluster exists that nobody can let the host into: a second one would take its place.
    """
    open_doors = [each for each in answering if each != name or state == "member"]
    through = name if name in open_doors else next(iter(open_doors), None)
    if state == "member":
        return Step("none", through, clears=False)
    if through:
        return Step("join", through, clears=state == "half")
    others = [each for each in members if each != name]
    if others:
        raise Refusal(f"The API answers on no control host, and {', '.join(others)} made the cluster already.", AGAIN)
    if name != controls[0]:
        raise Refusal(f"There is no cluster yet, and it begins on {controls[0]}, not on {name}.", "Run on all hosts.")
    return Step("found", None, clears=state == "half")


def _of_another(found: str, api: str, site: str) -> Refusal:
    return Refusal(
        f"This host is a node of the cluster at {found}, and that of {site} is at {api}.",
        "See whose it is; playbooks/reset.yml takes it out.",
    )


def _parsed(text: str) -> Mapping[str, Any]:
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError:
        return {}
    return document if isinstance(document, dict) else {}
