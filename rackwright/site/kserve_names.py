"""What KServe's controller calls what it makes for a model (0.20, pkg/controller/v1alpha2/llmisvc and pkg/constants).

Whoever sends to those pods, scrapes them or looks for them must know it beforehand.
"""

PART_OF = "llminferenceservice"
LONGEST = 39  # with the longest of the endings below 63 characters: of a longer name it would make a digest


def engines(model: str) -> str:
    """The Deployment of the engines."""
    return f"{model}-kserve"


def picker(model: str) -> str:
    """The Deployment of the picker, which KServe calls scheduler."""
    return f"{model}-kserve-router-scheduler"


def picker_service(model: str) -> str:
    """The Service of the picker."""
    return f"{model}-epp-service"


def pool(model: str) -> str:
    """The InferencePool."""
    return f"{model}-inference-pool"


def engine_labels(model: str) -> dict[str, str]:
    """What it selects a model's engines by, and nothing else bears."""
    return {
        "app.kubernetes.io/name": model,
        "app.kubernetes.io/part-of": PART_OF,
        "kserve.io/component": "workload",
    }


def picker_labels(model: str) -> dict[str, str]:
    """What it selects a model's picker by."""
    return {"app.kubernetes.io/name": model, **every_picker()}


def every_picker() -> dict[str, str]:
    """What the pickers of all models bear."""
    return {
        "app.kubernetes.io/component": "llminferenceservice-router-scheduler",
        "app.kubernetes.io/part-of": PART_OF,
    }


def every_engine() -> dict[str, str]:
    """What the engines of all models bear."""
    return {"app.kubernetes.io/part-of": PART_OF, "kserve.io/component": "workload"}
