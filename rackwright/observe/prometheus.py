"""Reading figures from a Prometheus."""

import json
import math
import time
from collections.abc import Iterable
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

from rackwright.errors import Refusal
from rackwright.observe.figure import Figure
from rackwright.observe.series import Series, Value

TIMEOUT_S = 30
MOST_STEPS = 10_000  # Prometheus itself gives no more than 11,000


class Prometheus:
    """One Prometheus, by its address."""

    def __init__(self, address: str) -> None:
        if urlsplit(address).scheme not in ("http", "https") or not urlsplit(address).netloc:
            raise Refusal(
                f"{address[:100]!r} is no address of a Prometheus.", "Write one such as http://localhost:9090."
            )
        self.address = address.rstrip("/")

    def read(self, figures: Iterable[Figure], *, seconds: float, step_s: float, until: float | None = None) -> Series:
        """So many seconds of figures up to now; those that Prometheus does not have are left out.

        Rules keep each figure under a name of its own; a Prometheus without them reckons it from the expression.
        """
        end = time.time() if until is None else until
        steps = min(int(seconds / step_s), MOST_STEPS)
        start = end - steps * step_s
        found = {}
        for figure in figures:
            answer = self._range(figure.record, start, end, step_s) or self._range(
                figure.expression, start, end, step_s
            )
            if answer:
                found[f"{figure.level}:{figure.name}"] = {
                    " ".join(filter(None, (each["metric"].get(label, "") for label in figure.labels))): _grid(
                        each["values"], start, step_s, steps + 1
                    )
                    for each in answer
                }
        return Series(start=start, step_s=step_s, figures=found)

    def query(self, expression: str) -> list[dict[str, Any]]:
        """An expression's series now."""
        return self._ask("query", query=expression)

    def _range(self, expression: str, start: float, end: float, step_s: float) -> list[dict[str, Any]]:
        return self._ask("query_range", query=expression, start=start, end=end, step=step_s)

    def _ask(self, what: str, **asked: object) -> list[dict[str, Any]]:
        body = urlencode(asked).encode()
        request = Request(f"{self.address}/api/v1/{what}", data=body)  # noqa: S310 - http and https alone, see above
        try:
            with urlopen(request, timeout=TIMEOUT_S) as answer:  # noqa: S310
                result: list[dict[str, Any]] = json.load(answer)["data"]["result"]
        except HTTPError as error:
            raise Refusal(f"{self.address} answers {error.code} {error.reason}.", self._cure) from None
        except (URLError, OSError) as error:
            raise Refusal(f"{self.address} does not answer ({getattr(error, 'reason', error)}).", self._cure) from None
        except (ValueError, LookupError, TypeError):
            raise Refusal(f"{self.address} does not speak like a Prometheus.", self._cure) from None
        return result

    @property
    def _cure(self) -> str:
        service = "svc/kube-prometheus-stack-prometheus 9090"
        return f"Open a way to it and name that address: kubectl -n monitoring port-forward {service}"


def _grid(values: list[list[Any]], start: float, step_s: float, steps: int) -> tuple[Value, ...]:
    """Values at even steps, none where Prometheus has none or where it has no number."""
    placed: list[Value] = [None] * steps
    for at, text in values:
        step, value = round((float(at) - start) / step_s), float(text)
        if 0 <= step < steps and math.isfinite(value):
            placed[step] = value
    return tuple(placed)
