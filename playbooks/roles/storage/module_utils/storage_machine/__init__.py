"""Drives of this machine: what is on them, and the acts that claim them."""
