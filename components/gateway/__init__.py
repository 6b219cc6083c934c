"""The gateway: the one door to the models."""

from components.gateway.component import Gateway

__all__ = ["Gateway"]
