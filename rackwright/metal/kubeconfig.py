"""The file that opens a cluster from the operator's machine, out of the one that its first server wrote for itself."""

from typing import Any

import yaml

from rackwright.errors import Refusal


def kubeconfig(written: str, name: str, api: str, port: int = 6443) -> str:
    """The server's own file with the cluster's name and address in place of `default` and the server's loopback."""
    document = _parsed(written)
    cluster, user = _only(document, "clusters"), _only(document, "users")
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": {**cluster["cluster"], "server": f"https://{api}:{port}"}}],
            "users": [{"name": name, "user": user["user"]}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
        },
        sort_keys=False,
    )


def refuse_another(found: str, wished: str, path: str) -> str:
    """The wished text, where what is found at its path opens the same cluster, or one of that name and address before.

    Raises Refusal where it opens another one: nobody's only way into a cluster is written over.
    """
    if not found.strip():
        return wished
    old, new = _parsed(found), _parsed(wished)
    if len(old.get("clusters") or ()) == 1 and _identity(old) == _identity(new):
        return wished
    names = ", ".join(str(each.get("name")) for each in old.get("clusters") or () if isinstance(each, dict))
    raise Refusal(
        f"{path} opens another cluster ({names or 'of no name'}), and would be written over.",
        f"Move it elsewhere, or name another file at kubeconfig of {new['current-context']} in the site file.",
    )


def _identity(document: dict[str, Any]) -> tuple[str, str]:
    cluster = _only(document, "clusters")
    return str(cluster.get("name")), str(cluster["cluster"].get("server"))


def _parsed(text: str) -> dict[str, Any]:
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError:
        document = None
    if not isinstance(document, dict):
        raise Refusal("What should be a kubeconfig is none.", "See what it is, and move it elsewhere.")
    return document


def _only(document: dict[str, Any], key: str) -> dict[str, Any]:
    """The one entry of a list; each has a part named in the singular."""
    entries = document.get(key)
    if not isinstance(entries, list) or len(entries) != 1 or not isinstance(entries[0], dict):
        raise Refusal(f"A kubeconfig has not one entry in {key}.", "See what it is, and move it elsewhere.")
    entry: dict[str, Any] = entries[0]
    part = entry.get(key.removesuffix("s"))
    return entry if isinstance(part, dict) else {**entry, key.removesuffix("s"): {}}
