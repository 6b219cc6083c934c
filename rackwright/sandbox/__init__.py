"""A real Kubernetes API with simulated machines, to rehearse a site on."""
