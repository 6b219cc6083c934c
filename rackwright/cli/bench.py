"""`rackwright bench`: a load on an OpenAI-compatible endpoint, and what it answered."""

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from rackwright.cli import options
from rackwright.errors import Refusal

Url = Annotated[str, typer.Argument(metavar="URL", help="The endpoint up to /v1, e.g. https://llm.lab/llama-70b/v1.")]


def bench(
    context: typer.Context,
    url: Url,
    *,
    model: Annotated[str, typer.Option(help="The model to ask for.")],
    trace: Annotated[Literal["chat", "agent"], typer.Option(help="People's turns, or agents' rounds.")] = "chat",
    sessions: Annotated[
        int | None, typer.Option(min=1, max=10_000, help="Closed loop: so many sessions at once.")
    ] = None,
    rate: Annotated[
        float | None, typer.Option(min=0.001, max=10_000, help="Open loop: so many sessions begin a second.")
    ] = None,
    site: Annotated[
        Path | None, typer.Option(parser=options.find_site, help="Take lengths and calls from a site's workload.")
    ] = None,
    prompt_tokens: Annotated[int | None, typer.Option(min=1, max=1_000_000, help="Of a call, at the median.")] = None,
    output_tokens: Annotated[int | None, typer.Option(min=1, max=100_000, help="Of a call, at the median.")] = None,
    seconds: Annotated[float, typer.Option(min=1, max=86_400, help="How long.")] = 60,
    calls: Annotated[int, typer.Option(min=1, max=1_000_000, help="Calls at the most.")] = 10_000,
    warm_up: Annotated[float, typer.Option(min=0, max=3_600, help="Seconds at the start that are not counted.")] = 0,
    timeout: Annotated[float, typer.Option(min=1, max=3_600, help="Seconds without a byte that end a call.")] = 120,
    key_variable: Annotated[str, typer.Option(help="The environment variable that holds the key.")] = "OPENAI_API_KEY",
    authority: Annotated[
        Path | None, typer.Option(metavar="FILE", help="PEM of who signed the endpoint's certificate: the site's own.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same sessions for the same seed.")] = 0,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the result down, for `baseline`.")] = None,
    json: options.Json = False,
) -> None:
    """Lay a load on an endpoint and measure first tokens, further tokens, calls and whole actions."""
    import asyncio
    import time

    from rackwright.bench.client import Endpoint
    from rackwright.bench.load import Load, Run, lay
    from rackwright.bench.result import result, save, text
    from rackwright.bench.traces import sessions as of_trace
    from rackwright.site.site import Site
    from rackwright.site.workload import Workload

    if sessions is not None and rate is not None:
        raise typer.BadParameter("--sessions is a closed loop and --rate an open one; name one of them")
    if warm_up >= seconds:
        raise typer.BadParameter(f"--warm-up {warm_up:g} leaves nothing of --seconds {seconds:g}")
    output = options.output_of(context, json=json)
    workload = Site.load(site).workload if site else Workload(users=1)
    stated = {"prompt_tokens": prompt_tokens, "output_tokens": output_tokens}
    workload = workload.model_copy(update={name: value for name, value in stated.items() if value is not None})
    load = Load(
        "open" if rate is not None else "closed",
        sessions=sessions or 1,
        rate=rate or 1.0,
        seconds=seconds,
        most_calls=calls,
        seed=seed,
    )
    at_once = max(load.sessions, load.most_at_once) * max(round(workload.fan_out), 1)
    began = time.perf_counter()

    async def run() -> Run:
        key = os.environ.get(key_variable)
        endpoint = Endpoint(url, model, key, most_at_once=at_once, timeout_s=timeout, authority=authority)
        await endpoint.reach()
        return await lay(endpoint, load, of_trace(trace, workload, seed), output.progress)

    done = asyncio.run(run())
    took = min(time.perf_counter() - began, seconds)
    found = result(done, took, model=model, endpoint=url, trace=trace, warm_up_s=warm_up)
    if not found.calls:
        errors = ", ".join(f"{count} times {error}" for error, count in found.failed.items()) or "none ended in time"
        raise Refusal(f"No call was answered: {errors}.", "See the address, the model's name, the key and the time.")
    if out is not None:
        save(found, out)
        output.note(f"Written to {out}; rackwright baseline SITE --bench {out} records it.")
    output.result(text(found), {"ok": True, **found.model_dump()})
