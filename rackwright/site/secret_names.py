"""Names of secrets in the vault: which are taken, and what is no name but a secret itself."""

import math
from collections import Counter

DEFAULT_PASSWORDS = frozenset({
    "admin", "administrator", "apikey", "changeme", "change_me", "default", "demo", "guest", "letmein", "pass",
    "passw0rd", "password", "password1", "qwerty", "root", "secret", "secret1", "test", "test123", "token", "user",
    "welcome",
})  # fmt: skip
PLATFORM = frozenset({
    "grafana_admin_password", "k3s_token", "pulumi_passphrase", "qdrant_api_key", "qdrant_read_only_api_key",
    "s3_access_key", "s3_secret_key",
})  # fmt: skip
ANSIBLE = frozenset({"catalog", "groups", "hostvars", "host", "omit", "site", "vars"})  # its words, and ours in it
RANDOM_LENGTH, RANDOM_DIGITS, RANDOM_BITS = 20, 4, 3.5  # names that people give are shorter, or have parts


def is_of_the_platform(name: str) -> bool:
    """True for a secret that the site has whatever its tenants are."""
    return name in PLATFORM or (name.startswith("postgresql_") and name.endswith("_password"))


def is_of_ansible(name: str) -> bool:
    """True for a variable that Ansible, or the inventory plugin, sets."""
    return name in ANSIBLE or name.startswith("ansible_")


def looks_random(name: str) -> bool:
    """True for a long run without parts that holds many digits and repeats itself little."""
    longest = max(name.split("_"), key=len)
    digits = sum(letter.isdigit() for letter in longest)
    return len(longest) >= RANDOM_LENGTH and digits >= RANDOM_DIGITS and _bits(longest) >= RANDOM_BITS


def _bits(text: str) -> float:
    """Information in a letter of a text."""
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)
