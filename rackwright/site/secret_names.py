"""Names of secrets in the vault: which are taken, and what is no name but a secret itself."""

import math
from collections import Counter

DEFAULT_PASSWORDS = frozenset({
    "admin", "administrator", "apikey", "changeme", "change_me", "default", "demo", "guest", "letmein", "pass",
    "passw0rd", "password", "password1", "qwerty", "root", "secret", "secret1", "test", "test123", "token", "user",
    "welcome",
})  # fmt: skip
PLATFORM = frozenset({
    "certificate_authority", "grafana_admin_password", "k3s_token", "langfuse_admin_password", "langfuse_key",
    "pulumi_passphrase", "qdrant_api_key", "qdrant_read_only_api_key", "s3_access_key", "s3_secret_key",
})  # fmt: skip
# Its words (a test asks it), and ours in it: a play would see those, and not the secret.
ANSIBLE = frozenset({
    "action", "always", "any_errors_fatal", "args", "async", "async_val", "become", "become_exe", "become_flags",
    "become_method", "become_user", "block", "catalog", "changed_when", "check_mode", "collections", "connection",
    "cycler", "debugger", "delay", "delegate_facts", "delegate_to", "dict", "diff", "environment", "fact_path",
    "failed_when", "force_handlers", "gather_facts", "gather_timeout", "group_names", "groups", "handlers", "host",
    "hosts", "hostvars", "ignore_errors", "ignore_unreachable", "inventory_dir", "inventory_file",
    "inventory_hostname", "inventory_hostname_short", "item", "joiner", "lipsum", "local_action", "lookup", "loop",
    "loop_control", "loop_with", "max_fail_percentage", "module_defaults", "name", "namespace", "no_log", "notify",
    "now", "omit", "order", "play_hosts", "playbook_dir", "poll", "port", "post_tasks", "pre_tasks", "q", "query",
    "range", "register", "remote_user", "rescue", "retries", "role_name", "role_names", "role_path", "role_uuid",
    "roles", "run_once", "serial", "site", "strategy", "tags", "tasks", "throttle", "timeout", "undef", "until",
    "vars", "vars_files", "vars_prompt", "when", "with_",
})  # fmt: skip
SWITCHES = frozenset({"false", "n", "no", "null", "off", "on", "true", "y", "yes"})  # Ansible reads YAML 1.1
RANDOM_LENGTH, RANDOM_DIGITS, RANDOM_BITS = 20, 4, 3.5  # names that people give are shorter, or have parts


def is_of_the_platform(name: str) -> bool:
    """True for a secret that the site has whatever its tenants are."""
    return name in PLATFORM or (name.startswith("postgresql_") and name.endswith("_password"))


def is_of_ansible(name: str) -> bool:
    """True for a word that means something else to Ansible than the secret of that name."""
    return name in ANSIBLE or name in SWITCHES or name.startswith("ansible_")


def looks_random(name: str) -> bool:
    """True for a long run without parts that holds many digits and repeats itself little."""
    longest = max(name.split("_"), key=len)
    digits = sum(letter.isdigit() for letter in longest)
    return len(longest) >= RANDOM_LENGTH and digits >= RANDOM_DIGITS and _bits(longest) >= RANDOM_BITS


def _bits(text: str) -> float:
    """Information in a letter of a text."""
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)
