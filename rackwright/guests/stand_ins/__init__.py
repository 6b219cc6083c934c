"""Packages that stand in for ones that a guest cannot have: each says what it is."""
