"""Langfuse: the chart, and the two stores that nobody else uses."""

from components.langfuse.component import Langfuse

__all__ = ["Langfuse"]
