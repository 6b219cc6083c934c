"""A site's machines as booted guests: their ports, drives, cables and addresses, to try playbooks on."""
