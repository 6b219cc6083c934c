"""The other commands, as far as roles and people use them."""

import json
import os
import socket
import sys
import time
from collections.abc import Sequence

from rackwright.guests.stand_ins.k3s.program import state
from rackwright.guests.stand_ins.k3s.program.configuration import flags
from rackwright.guests.stand_ins.k3s.program.place import WHO, Trouble, at, write

SNAPSHOTS = f"{state.DATA}/server/db/snapshots"
PORT = 6443


def kubectl(arguments: Sequence[str]) -> str:
    """Nodes and the API's own health; Trouble where it does not run."""
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", int(os.environ.get("K3S_STAND_IN_PORT", PORT)))):
            raise Trouble(
                "The connection to the server 127.0.0.1:6443 was refused - did you specify the right host or port?"
            )
    words = [each for each in arguments if not each.startswith("-")]
    as_json = "json" in words or "-ojson" in arguments or "--output=json" in arguments
    match [word for word in words if word != "json"]:
        case ["get", "/readyz" | "/livez"]:
            return f"ok ({WHO})"
        case ["get", "nodes" | "node"]:
            return json.dumps({"apiVersion": "v1", "kind": "List", "items": state.nodes()}) if as_json else _table()
        case ["get", "nodes" | "node", name]:
            found = state.node_named(name)
            return json.dumps(found) if as_json else _table()
        case ["annotate", "node", name, mark]:
            return state.annotate(name, mark)
        case ["cordon" | "drain" | "uncordon" as act, name]:  # no pod runs here that could be moved
            return state.cordon(name, on=act != "uncordon")
    raise Trouble(f"kubectl {' '.join(arguments)} is more than the {WHO} plays")


def etcd_snapshot(arguments: Sequence[str], version: str) -> str:
    """Save, and list, snapshots: files with the names that the real ones have, and nothing to restore in them."""
    if not at(f"{state.DATA}/server/db/etcd").exists():
        raise Trouble("etcd datastore is not initialized; snapshots are of etcd alone")
    folder = at(SNAPSHOTS)
    if arguments[:1] == ["save"]:
        named = next((each.partition("=")[2] for each in arguments if each.startswith("--name=")), "on-demand")
        name = f"{named}-{os.uname().nodename}-{int(time.time())}"
        write(f"{SNAPSHOTS}/{name}", json.dumps({"played by": WHO, "version": version, "nodes": state.nodes()}) + "\n")
        return f"Snapshot {name} saved ({WHO})."
    if arguments[:1] in (["ls"], ["list"]):
        return "\n".join(
            ["Name Location Size Created", *(f"{each.name} file://{each}" for each in sorted(folder.iterdir()))]
        )
    raise Trouble(f"etcd-snapshot {' '.join(arguments)} is more than the {WHO} plays")


def check_config() -> str:
    """What the machine's kernel has is the real program's to judge."""
    return f"{WHO}: nothing of the kernel was looked at; flags are of {flags()['source']}\nSTATUS: pass"


def secrets_encrypt() -> str:
    """Whether secrets would be encrypted."""
    on = at(f"{state.DATA}/server/cred/encryption-config.json").exists()
    return f"Encryption Status: {'Enabled' if on else 'Disabled'}\nSaid by: {WHO}"


def _table() -> str:
    rows = [("NAME", "STATUS", "VERSION", "INTERNAL-IP", "SAID BY")]
    for each in state.nodes():
        status = "Ready" if each["status"]["conditions"][0]["status"] == "True" else "NotReady"
        address, version = each["status"]["addresses"][0]["address"], each["status"]["nodeInfo"]["kubeletVersion"]
        rows.append((each["metadata"]["name"], status, version, address, WHO))
    return "\n".join("   ".join(row) for row in rows)


def out(text: str) -> None:
    """To the standard output."""
    sys.stdout.write(f"{text}\n")
