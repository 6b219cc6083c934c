"""The gateway, asked as tenants ask it: through TLS, with a key and without."""

import http.client
import json
import socket
import ssl
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from rackwright.checks.access import Access
from rackwright.checks.findings import Finding, failed, not_seen, passed
from rackwright.checks.objects import Objects, namespace_of
from rackwright.errors import Refusal
from rackwright.site.hosts import Phase
from rackwright.site.site import Site

CONNECT_S, ANSWER_S = 10, 120


class Answer(NamedTuple):
    """What came back: the status, and the body as far as it is JSON."""

    status: int
    body: Mapping[str, object]


def gateway_serves_tenants(
    objects: Objects, access: Access, site: Site, phase: Phase, keys: Mapping[str, str]
) -> Iterator[Finding]:
    """Every model answers a tenant with a completion, and refuses whoever has no key."""
    if objects.simulated:
        yield not_seen(site.gateway.host, "simulated pods serve nothing, so no request was sent")
        return
    try:
        context = ssl.create_default_context(cadata=_authority(objects, access, site))
    except (Refusal, ssl.SSLError) as error:
        yield failed(
            site.gateway.host, f"has no certificate to check it by: {error}", "See: kubectl -n gateway get certificates"
        )
        return
    tenant = next((each for each in site.tenants if each.key in keys), None)
    for model, _ in site.models_in(phase):
        yield _without_key(site, phase, context, model.name)
        if tenant is None:
            yield not_seen(f"Model {model.name}", "no tenant's key is at hand, so no completion was asked for")
        else:
            yield _with_key(site, phase, context, model.name, tenant.name, keys[tenant.key])


def _without_key(site: Site, phase: Phase, context: ssl.SSLContext, model: str) -> Finding:
    where = f"Model {model}, without a key"
    answer = _ask(site, phase, context, model, None)
    if isinstance(answer, str):
        return failed(where, answer, _cure(site))
    if answer.status == http.client.UNAUTHORIZED:
        return passed(where, "is refused with 401")
    return failed(where, f"is answered with {answer.status} instead of 401", "See the gateway's configuration at once.")


def _with_key(site: Site, phase: Phase, context: ssl.SSLContext, model: str, tenant: str, key: str) -> Finding:
    where = f"Model {model}, as tenant {tenant}"
    answer = _ask(site, phase, context, model, key)
    if isinstance(answer, str):
        return failed(where, answer, _cure(site))
    if answer.status == http.client.OK and answer.body.get("choices"):
        return passed(where, "answers with a completion")
    return failed(
        where,
        f"answers with {answer.status} and {'a completion' if answer.body.get('choices') else 'no completion'}",
        f"See its server: kubectl -n models logs service/{model}",
    )


def _ask(site: Site, phase: Phase, context: ssl.SSLContext, model: str, key: str | None) -> Answer | str:
    """The answer to one short completion, or why there was none."""
    address = str(site.door(phase))
    connection = http.client.HTTPConnection(site.gateway.host, site.gateway.port)
    try:
        plain = socket.create_connection((address, site.gateway.port), CONNECT_S)
        plain.settimeout(ANSWER_S)
        connection.sock = context.wrap_socket(plain, server_hostname=site.gateway.host)
        body = json.dumps({"model": model, "prompt": "One word:", "max_tokens": 1})
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        connection.request("POST", f"/{model}/v1/completions", body, headers)
        response = connection.getresponse()
        return Answer(response.status, _json(response.read()))
    except (OSError, http.client.HTTPException) as error:
        return f"did not answer at {address}:{site.gateway.port}: {error or type(error).__name__}"
    finally:
        connection.close()


def _json(text: bytes) -> Mapping[str, object]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _authority(objects: Objects, access: Access, site: Site) -> str:
    """The certificate that signed the gateway's."""
    for each in objects.all("Certificate"):
        if site.gateway.host in (each["spec"].get("dnsNames") or []):
            return access.secret(namespace_of(each), each["spec"]["secretName"], "ca.crt")
    raise Refusal(f"No Certificate is for {site.gateway.host}.", "Run `pulumi up` again.")


def _cure(site: Site) -> str:
    return f"See kubectl -n gateway get pods,services, and whether {site.gateway.host} leads there."
