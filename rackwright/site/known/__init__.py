"""What is known beforehand: GPU products, model architectures, and how a config.json tells one."""
