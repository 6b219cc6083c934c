"""Ansible reads a site file through the loader that everything else reads it through."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleParserError
from ansible.parsing.vault import AnsibleVaultError, VaultSecret, VaultSecretsContext
from ansible.plugins.inventory import BaseInventoryPlugin
from ansible.utils.vars import load_extra_vars

try:
    from rackwright.errors import Refusal
    from rackwright.inventory import Inventory
    from rackwright.inventory import inventory as resolve
    from rackwright.secrets import Vault, cipher
    from rackwright.site.catalog import Catalog
    from rackwright.site.site import Site
except ImportError as error:
    missing: ImportError | None = error
else:
    missing = None

DOCUMENTATION = """
name: rackwright_site
short_description: Reads a Rackwright site file
author: Rackwright
description:
  - Reads C(inventory/<site>/site.yml) with the very loader that the C(rackwright) command uses.
  - A site file with a fault fails the run before any host is contacted and shows every fault with its line and cure.
  - Each host has its address as C(ansible_host) and its block of the site file as C(host).
  - All hosts share the other blocks as C(site) and the pinned versions as C(catalog).
  - Groups are C(phase1) and C(phase2), the roles C(inference), C(training), C(agents) and C(control), C(gpu), and by
    cluster C(k3s_server), C(k3s_workers), C(kubernetes_control) and C(kubernetes_workers).
  - The vault beside the site file opens with the password beside it where C(ANSIBLE_VAULT_PASSWORD_FILE) is not set.
"""

EXAMPLES = """
# ansible.cfg at the root of the checkout enables it:
#   ansible-inventory -i inventory/lab --graph
"""


PHASES = ("phase", "preflight_phase", "verify_phase")  # what playbooks take on the command line


class InventoryModule(BaseInventoryPlugin):
    """The plugin, by the name that Ansible looks for."""

    NAME = "rackwright_site"

    def verify_file(self, path: str) -> bool:
        """True for a site.yml."""
        return Path(path).name == "site.yml"  # one that cannot be read is refused with the reason, not passed over

    def parse(self, inventory: Any, loader: Any, path: str, cache: bool = True) -> None:
        """Fill Ansible's inventory from a site; AnsibleParserError tells what the loader has against it."""
        super().parse(inventory, loader, path, cache)
        if missing is not None:
            raise AnsibleParserError(_elsewhere(missing))
        try:
            site = Site.load(path)
            found = resolve(site, Catalog.load())
            _refuse_second_site(inventory, found)
            _refuse_unknown_phase(load_extra_vars(loader), site)
            _unlock(loader, Path(path).parent)
        except Refusal as refusal:
            self.display.error(f"{refusal.what}\n{refusal.cure}", wrap_text=False)
            raise AnsibleParserError("No host was contacted.") from None  # Ansible shows this sentence three times
        _fill(inventory, found)


def _elsewhere(error: ImportError) -> str:
    return (
        f"The Python that runs Ansible ({sys.executable}) cannot import Rackwright ({error}). "
        "Run bin/rackwright once, which makes .venv, then start .venv/bin/ansible-playbook and its like."
    )


def _refuse_second_site(inventory: Any, found: Inventory) -> None:
    first = inventory.groups["all"].vars.get("site")
    if first:
        raise Refusal(
            f"Two sites in one run, {first['name']} and {found.shared['site']['name']}, would share their variables.",
            "Run Ansible once for each site: -i inventory/<site>.",
        )


def _refuse_unknown_phase(told: Any, site: Site) -> None:
    """A group of a phase that there is not is nobody: a run on it would end well, with nothing done."""
    known = [str(number) for number in site.phases]
    for name in PHASES:
        if name in told and str(told[name]) not in known:
            raise Refusal(
                f"-e {name}={told[name]} names no phase of the site {site.name}.",
                f"Its phases: {', '.join(known)}.",
            )


def _unlock(loader: Any, folder: Path) -> None:
    """Let Ansible open the vault beside the site with the password beside it, unless it was given passwords.

    Raises Refusal where the vault does not open; Ansible itself would say it in the first play, and name no file.
    """
    context = VaultSecretsContext.current(optional=True)
    given = context.secrets if context else []
    vault = Vault.of(folder)
    if not vault.exists():
        return
    if not given:
        vault.read()
        given.append(("default", VaultSecret(cipher.password(vault.password_file))))
        loader.set_vault_secrets(given)
    try:
        loader.load_from_file(str(vault.file), cache="none")
    except AnsibleVaultError:
        raise Refusal(
            f"{vault.file} does not open with the password that Ansible was given: it was made with another.",
            "Give the right one with --ask-vault-pass or --vault-password-file, or none where it lies beside the site.",
        ) from None


def _fill(inventory: Any, found: Inventory) -> None:
    for name, hosts in found.groups.items():
        inventory.add_group(name)
        for host in hosts:
            inventory.add_host(host, group=name)
    for name, children in found.children.items():
        inventory.add_group(name)
        for child in children:
            inventory.add_child(name, child)
    for host, variables in found.hosts.items():
        inventory.add_host(host)
        for key, value in variables.items():
            inventory.set_variable(host, key, value)
    for key, value in found.shared.items():
        inventory.set_variable("all", key, value)
