#!/usr/bin/env python3
"""Plays kubectl, and etcdctl behind it, on nodes that a file keeps; whatever is asked is written down beside them."""

import json
import sys
from pathlib import Path

FILE = Path(sys.argv[1])
WORDS = [word for word in sys.argv[2:] if not word.startswith("--")]


def answer(state):
    """What it says, after what it does."""
    match WORDS:
        case ["get", "nodes"]:
            return json.dumps({"items": list(state["nodes"].values())})
        case ["get", "node", name]:
            return json.dumps(state["nodes"][name])
        case ["get", "/readyz"]:
            return "ok"
        case [*_, "member", "list"]:
            return json.dumps({"members": [{"name": name, "clientURLs": [at(name)]} for name in state["members"]]})
        case [*_, "endpoint", "health"]:
            return json.dumps([{"endpoint": at(name), "health": name in state["well"]} for name in state["members"]])
    return change(state["nodes"])


def change(nodes):
    """A command that changes a node."""
    match WORDS:
        case ["annotate", "node", name, mark] if mark.endswith("-"):
            return nodes[name]["metadata"]["annotations"].pop(mark[:-1])
        case ["annotate", "node", name, mark]:
            key, _, value = mark.partition("=")
            nodes[name]["metadata"]["annotations"][key] = value
        case ["drain", name]:
            nodes[name]["spec"]["unschedulable"] = True
        case ["uncordon", name]:
            nodes[name]["spec"].pop("unschedulable", None)
        case ["delete", "node", name]:
            return f'node "{name}" deleted' if nodes.pop(name, None) else ""
        case _:
            sys.exit(f"this kubectl does not play: {sys.argv[2:]}")
    return ""


def at(name):
    """Where a member of etcd answers."""
    return f"https://{name}:2379"


found = json.loads(FILE.read_text())
found["asked"].append(" ".join(sys.argv[2:]))
sys.stdout.write(f"{answer(found)}\n")
FILE.write_text(json.dumps(found))
