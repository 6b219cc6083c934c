"""Packages that behave as NVIDIA's do where a role could go wrong: branches, versions, transitions, services."""
