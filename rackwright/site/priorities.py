"""How urgent a tenant's class is, to the router and to the engine.

The two count in opposite directions, and neither knows of the other: llm-d's router takes the higher number first
(InferenceObjective, llm-d-router v0.10.0), vLLM the lower one (`--scheduling-policy priority`, vLLM 0.30.0). They meet
here and nowhere else.
"""

from rackwright.site.tenants import PriorityClass

# More is more urgent. What is below zero may be given up by the router while everything is full.
URGENCY: dict[PriorityClass, int] = {"interactive": 10, "agents": 0, "batch": -10}


def of_router(priority: PriorityClass) -> int:
    """The priority of the InferenceObjective that bears the class's name: higher goes first."""
    return URGENCY[priority]


def of_engine(priority: PriorityClass) -> int:
    """The priority of a request in vLLM: lower goes first."""
    return -URGENCY[priority]


def objective(model: str, priority: str) -> str:
    """The name of the InferenceObjective of a class: each belongs to one model's pool, and all are in one namespace."""
    return f"{model}-{priority}"
