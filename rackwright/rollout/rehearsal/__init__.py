"""The whole rollout on two rehearsal clusters: real stacks, doors and checks; what cannot run there is played."""
