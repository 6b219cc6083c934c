"""Pulumi stacks: the wiring, which alone knows both the site and the components."""
