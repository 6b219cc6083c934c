"""What every component stands on: its namespace, its charts, its objects and the ways in and out of it."""

from components.base.charts import Chart
from components.base.component import Component
from components.base.objects import PART_OF, Manifest, edition

__all__ = ["PART_OF", "Chart", "Component", "Manifest", "edition"]
