"""One streamed call and its times."""

import asyncio
import json
import os
import ssl
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from rackwright.bench.traces import Call
from rackwright.errors import Refusal

REACHED_S = 5.0


@dataclass(frozen=True)
class Timed:
    """One call as the client saw it; times in s, `error` in place of them where it did not end well."""

    begun_s: float
    ttft_s: float | None = None
    total_s: float | None = None
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    error: str | None = None

    @property
    def tpot_s(self) -> float | None:
        """Time of a further token; nothing where there was none."""
        if self.ttft_s is None or self.total_s is None or self.output_tokens < 2:
            return None
        return (self.total_s - self.ttft_s) / (self.output_tokens - 1)


class Endpoint:
    """An OpenAI-compatible chat endpoint and the model that is asked for."""

    def __init__(
        self,
        address: str,
        model: str,
        key: str | None,
        *,
        most_at_once: int,
        timeout_s: float,
        authority: Path | None = None,
    ) -> None:
        """`authority` is the certificate of who signed the endpoint's own, where no system trusts it."""
        if not _is_address(address):
            raise Refusal(f"{address[:100]!r} is no address.", "Write one such as https://llm.lab/llama-70b/v1.")
        base = address.rstrip("/")
        self.url = base if base.endswith("/chat/completions") else f"{base}/chat/completions"
        self.model = model
        headers = {"authorization": f"Bearer {key}"} if key else {}
        limits = httpx.Limits(max_connections=most_at_once, max_keepalive_connections=most_at_once)
        self.verify = _trusted(authority)
        self.client = httpx.AsyncClient(
            headers=headers,
            limits=limits,
            timeout=httpx.Timeout(timeout_s, connect=REACHED_S),
            trust_env=False,
            verify=self.verify,
        )

    async def reach(self) -> None:
        """Refusal where nobody is there within seconds, or it is not whom it should be."""
        parts = urlsplit(self.url)
        is_secret = parts.scheme == "https"
        try:
            _, way = await asyncio.wait_for(
                asyncio.open_connection(
                    parts.hostname, parts.port or (443 if is_secret else 80), ssl=self.verify if is_secret else None
                ),
                REACHED_S,
            )
        except ssl.SSLCertVerificationError as error:
            raise Refusal(
                f"{parts.netloc} shows a certificate that nobody here trusts ({error.verify_message}).",
                "Name who signed it with --authority, and call it by a name or address that it bears.",
            ) from None
        except (OSError, TimeoutError) as error:
            said = f"nothing within {REACHED_S:g} s"
            if not isinstance(error, TimeoutError):
                said = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or "no way"
            cure = "See that it is up, the address, and that the way to it is open."
            raise Refusal(f"{parts.netloc} does not answer ({said}).", cure) from None
        way.close()

    async def close(self) -> None:
        """Let go of its connections."""
        await self.client.aclose()

    async def ask(self, call: Call, began: float) -> Timed:
        """Stream one answer; times count from here, `begun_s` from the start of the test."""
        start = time.perf_counter()
        seen = _Seen()
        try:
            async with self.client.stream("POST", self.url, json=self._body(call)) as answer:
                if answer.status_code != httpx.codes.OK:
                    return Timed(start - began, error=f"HTTP {answer.status_code}")
                async for line in answer.aiter_lines():
                    seen.line(line, time.perf_counter() - start)
        except httpx.TimeoutException:
            return Timed(start - began, error="timeout")
        except (httpx.HTTPError, httpx.StreamError, OSError) as error:
            return Timed(start - began, error=f"{type(error).__name__}: {error}"[:120].removesuffix(": "))
        total = time.perf_counter() - start
        if seen.first_s is None:
            return Timed(start - began, error=seen.error or "an answer without a token")
        return Timed(
            start - began, seen.first_s, seen.last_s or total, seen.prompt, seen.cached, seen.output or seen.chunks
        )

    def _body(self, call: Call) -> dict[str, Any]:
        return {
            "model": self.model,
            "messages": [{"role": "user", "content": call.prompt}],
            "max_tokens": call.output_tokens,
            "ignore_eos": True,  # vLLM's: the answer is as long as asked for, else lengths would be the model's mood
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
        }


def _trusted(authority: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=authority)
    except OSError as error:  # of which a file that holds no certificate is one too
        raise Refusal(
            f"{authority} is no authority's certificate ({error.strerror or error}).",
            "Name a PEM file, such as what holds ca.crt of the gateway's authority.",
        ) from None


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


class _Seen:
    """What a stream has shown so far."""

    def __init__(self) -> None:
        self.first_s: float | None = None
        self.last_s: float | None = None
        self.chunks = self.prompt = self.cached = self.output = 0
        self.error: str | None = None

    def line(self, line: str, now_s: float) -> None:
        """Read one line of server-sent events."""
        if not line.startswith("data:") or line.strip() == "data: [DONE]":
            return
        try:
            event: Any = json.loads(line[5:])
            self._event(event, now_s)
        except (ValueError, TypeError, AttributeError, LookupError):
            self.error = "an event that is not understood"

    def _event(self, event: Any, now_s: float) -> None:
        if "error" in event:
            self.error = str(event["error"])[:80]
        for choice in event.get("choices") or []:
            delta = choice.get("delta") or {}
            if any(delta.get(part) for part in ("content", "reasoning", "reasoning_content", "tool_calls")):
                self.first_s = now_s if self.first_s is None else self.first_s
                self.last_s = now_s
                self.chunks += 1
        usage = event.get("usage") or {}
        self.prompt = usage.get("prompt_tokens") or self.prompt
        self.output = usage.get("completion_tokens") or self.output
        details = usage.get("prompt_tokens_details") or {}
        self.cached = details.get("cached_tokens") or self.cached
