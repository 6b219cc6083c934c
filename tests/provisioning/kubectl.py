#!/usr/bin/env python3
"""Plays kubectl, and etcdctl behind it, on nodes that a file keeps; whatever is asked is written down beside them."""

import json
import sys
from pathlib import Path

FILE = Path(sys.argv[1])
FOLLOWED = ("--kubeconfig", "--namespace", "--cacert", "--cert", "--key", "--endpoints", "--write-out")


def understood(arguments):
    """The words without options."""
    rest = iter(arguments)
    words = []
    for word in rest:
        if word in FOLLOWED:
            next(rest)
        elif not word.startswith("--"):  # and so is the -- before what a pod is to run
            words.append(word)
    return words


WORDS = understood(sys.argv[2:])


def answer(state):
    """What it says, after what it does."""
    match WORDS:
        case ["get", "nodes"]:
            return json.dumps({"items": list(state["nodes"].values())})
        case ["get", "node", name]:
            return json.dumps(state["nodes"][name])
        case ["get", "/readyz"]:
            return "ok"
        case ["exec", _, "etcdctl", what, act, *number]:
            return etcdctl(state, what, act, *number)
    return change(state["nodes"])


def etcdctl(state, what, act, *number):
    """Members of etcd."""
    if act == "remove":
        state["members"].pop(int(number[0], 16) - 1)
        return ""
    if what == "member":
        return json.dumps({"members": [member(*each) for each in enumerate(state["members"], 1)]})
    return json.dumps([{"endpoint": at(name), "health": name in state["well"]} for name in state["members"]])


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


def member(number, name):
    """A member of etcd."""
    return {"ID": number, "name": name, "clientURLs": [at(name)]}


def at(name):
    """Where a member of etcd answers."""
    return f"https://{name}:2379"


found = json.loads(FILE.read_text())
found["asked"].append(" ".join(sys.argv[2:]))
sys.stdout.write(f"{answer(found)}\n")
FILE.write_text(json.dumps(found))
