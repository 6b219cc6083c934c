"""Where models are trained."""

from components.training.component import Training

__all__ = ["Training"]
