"""Where tools of agents run."""

from components.agents.component import Agents

__all__ = ["Agents"]
