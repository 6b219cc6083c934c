"""llm-d's router: for each model, who chooses the replica of a request, and who waits."""

from components.llm_d.component import Router

__all__ = ["Router"]
