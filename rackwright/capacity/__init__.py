"""Sizing: from users and agents to model calls, to tokens, to memory and time, to GPUs and machines."""
