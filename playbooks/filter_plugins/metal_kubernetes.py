"""What the roles containerd and kubernetes are told, out of a site's blocks as a play sees them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible.errors import AnsibleFilterError

from rackwright.errors import Refusal
from rackwright.metal import containerd, core_dns, kubeadm, kubernetes_packages, kubernetes_plan, kubernetes_state
from rackwright.site import node_marks
from rackwright.site.catalog import Catalog
from rackwright.site.clusters import Cluster
from rackwright.site.hosts import Host
from rackwright.site.networks import Networks
from rackwright.site.operating_system import OperatingSystem

TOKEN = re.compile(r"--token (\S+)")
CA_HASH = re.compile(r"--discovery-token-ca-cert-hash (sha256:[0-9a-f]{64})")
CERTIFICATE_KEY = re.compile(r"^[0-9a-f]{64}$", re.MULTILINE)
DAY = 24 * 3600


class FilterModule:
    """The filters, by the name that Ansible looks for."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Filters by their name in a play."""
        return {
            "containerd_plan": containerd_plan,
            "kubernetes_plan": kubernetes_plan_of,
            "kubernetes_state": lambda *texts, **wished: _refusing(kubernetes_state.found_state)(
                *_plain(texts), **_plain(wished)
            ),
            "kubernetes_step": lambda name, **found: _refusing(kubernetes_state.step)(
                _plain(name), **_plain(found)
            )._asdict(),
            "kubernetes_mark": lambda *words: kubernetes_state.mark(*_plain(words)),
            "kubernetes_joining": kubernetes_joining,
            "kubernetes_encryption": lambda key: kubernetes_plan.written([kubeadm.encryption(_plain(key))]),
            "kubernetes_missing": lambda wished, said: kubernetes_packages.missing(_plain(wished), said),
            "kubernetes_installed": kubernetes_packages.installed,
            "kubernetes_moves": lambda wished, said: _refusing(kubernetes_packages.moves)(_plain(wished), said),
            "kubernetes_crowded": lambda pods, nodes: core_dns.is_crowded(_plain(pods), _plain(nodes)),
            "kubernetes_days_left": kubernetes_days_left,
            "kubernetes_marks": kubernetes_marks,
        }


def containerd_plan(host: Any, site: Any, catalog: Any) -> dict[str, Any]:
    """The arguments of the role containerd."""
    system, pinned = _system(_host(host), site), Catalog.model_validate(_plain(catalog))
    return {
        "version": pinned.packages["containerd"],
        "package_format": system.package_format,
        "repository": containerd.repository(system, pinned),
        "sandbox_image": containerd.sandbox(pinned),
    }


def kubernetes_plan_of(
    host: Any, site: Any, catalog: Any, controls: Sequence[Any], minutes: int, images: str = ""
) -> dict[str, Any]:
    """The arguments of the role kubernetes; `controls` are the blocks of the control hosts, the first one founds."""
    block = _host(host)
    if not site["clusters"]["phase2"]:
        raise AnsibleFilterError(f"{site['name']} has no phase 2; describe clusters.phase2 in its site file.")
    return kubernetes_plan.plan(
        block,
        _system(block, site),
        Cluster.model_validate(_plain(site["clusters"]["phase2"])),
        Networks.model_validate(_plain(site["networks"])),
        [_host(each) for each in controls],
        Catalog.model_validate(_plain(catalog)),
        site=_plain(site["name"]),
        minutes=int(minutes),
        images=_plain(images) or None,
        lends_gpus=bool((site.get("training") or {}).get("lends_gpus")),
    )


def kubernetes_joining(document: Any, command: str, keys: str = "") -> str:
    """The file that a host joins by, with what kubeadm printed on a control host; a failure repeats none of it."""
    token, ca_hash = TOKEN.search(command), CA_HASH.search(command)
    certificate_key = CERTIFICATE_KEY.search(keys)
    if not token or not ca_hash or ("controlPlane" in document and not certificate_key):
        raise AnsibleFilterError("kubeadm printed no token, hash or key that is understood; see kubeadm token create.")
    key = certificate_key[0] if certificate_key else None
    opened = kubeadm.opened(_plain(document), token=token[1], ca_hash=ca_hash[1], certificate_key=key)
    return kubernetes_plan.written([opened])


def kubernetes_marks(node: str, labels: Any, taints: Any) -> dict[str, list[str]]:
    """What must be said to kubectl, so that a node bears its labels and taints; `node` is what it showed as JSON."""
    shown = json.loads(node)
    return {
        "labels": node_marks.relabelled(_plain(labels), shown["metadata"].get("labels") or {}),
        "taints": node_marks.retainted(_plain(taints), shown["spec"].get("taints") or []),
    }


def kubernetes_days_left(said: Any) -> int:
    """Days until the first certificate ends, out of `kubeadm certs check-expiration --output json`."""
    return int(min(each["residualTime"] for each in said["certificates"] if not each.get("missing")) // DAY)


def _plain(value: Any) -> Any:
    """A play's value as plain data: its lists and dictionaries give out what they hold only when asked for it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, str):
        return str.__str__(value)  # without what Ansible ties to it, which YAML does not take
    return int.__int__(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _refusing(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its refusals in Ansible's words."""

    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except Refusal as refusal:
            raise AnsibleFilterError(f"{refusal.what} {refusal.cure}") from None

    return call


def _host(block: Any) -> Host:
    return Host.model_validate(_plain(block))


def _system(host: Host, site: Any) -> OperatingSystem:
    return host.operating_system or OperatingSystem.model_validate(_plain(site["operating_system"]))
