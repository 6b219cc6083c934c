"""What the roles are told: decided from a site by pure functions, and tested without a machine."""
