"""What cures a host that could not be asked, by the words that a connection ended with."""


def cure(words: str) -> str:
    """The likeliest cure, as a clause without its full stop."""
    said = words.lower()
    if any(word in said for word in ("sudo", "become", "escalation")) or ("password" in said and "ssh" not in said):
        return (
            "Give the right one as ansible_become_password in the site's vault, or `ansible-playbook --ask-become-pass`"
        )
    if "python" in said or "interpreter" in said:
        return "Install python3 (3.9 or newer) on it"
    if "host key" in said:
        return "See that it is the machine that is meant, then renew its line in known_hosts (ssh-keygen -R)"
    if "permission denied" in said:
        return "Give the account of group_vars (ansible_user) your key: ssh-copy-id"
    return "Look at its power, its address and port 22, and at ansible_user in the site's group_vars"


def is_of_the_password(words: str) -> bool:
    """True of a task's words where it was not let in as root, and the host did answer."""
    said = words.lower()
    return "password" in said and any(word in said for word in ("sudo", "become", "escalation"))
