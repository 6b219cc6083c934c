"""Objects that the API server takes and that cannot work."""

import time


def deployment(name, replicas=0, **container):
    """A Deployment in a restricted namespace; with no replica it names things that are never looked for."""
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "qdrant"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "main", "image": "example.org/a:1", **container}]},
            },
        },
    }


def until(look, seconds=15):
    """What is found, once something is."""
    deadline = time.monotonic() + seconds
    while not (found := look()) and time.monotonic() < deadline:
        time.sleep(0.3)
    return found


def fresh(each):
    """An object as somebody would make it anew: without what the API server gave it."""
    metadata = {
        key: each["metadata"][key] for key in ("name", "namespace", "labels", "annotations") if key in each["metadata"]
    }
    return {**{key: value for key, value in each.items() if key != "status"}, "metadata": metadata}
