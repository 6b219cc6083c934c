"""Pulumi components: each lays one part of the platform on a cluster, and knows only its own arguments."""
