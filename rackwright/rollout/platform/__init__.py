"""The clusters' side of a rollout: stacks, doors, machines, and what shows that a phase serves."""
