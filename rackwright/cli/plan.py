"""`rackwright plan`: what a site can carry, and how far the reckoning may be trusted."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from rackwright.cli import options
from rackwright.errors import Refusal


def _version(text: str) -> str:
    """A version as vLLM writes its own; a usage error for anything else."""
    if not re.fullmatch(r"v?\d{1,3}\.\d{1,3}(\.\S*)?", text, re.ASCII):
        raise typer.BadParameter(f"{text!r} is not a version such as 0.19.0")
    return text


File = Annotated[Path, typer.Argument(metavar="CSV", help="Measurements, one run a row.")]
ModelName = Annotated[str, typer.Argument(metavar="MODEL", help="Its name on the hub, or the path of its config.json.")]
Gpu = Annotated[str, typer.Option("--gpu", help="The GPU, e.g. h100_sxm; `rackwright schema` lists the known ones.")]
Whole = Annotated[int, typer.Option(min=1, max=1024)]


class SiteOrCommand(TyperGroup):
    """`plan SITE` without a word between, beside `plan verify` and others."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take what is no command for a site."""
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["site", *args]
        return super().parse_args(ctx, args)


application = typer.Typer(
    cls=SiteOrCommand,
    help="GPUs, memory, time and limits, reckoned before buying and held against measurements.",
    no_args_is_help=True,
)


@application.command()
def verify(context: typer.Context, file: File, *, json: options.Json = False) -> None:
    """Hold the reckoning against measurements: errors by model and by GPU, rows past a limit apart."""
    from rackwright.capacity.accuracy import verification_text
    from rackwright.capacity.verification import as_data
    from rackwright.capacity.verification import verify as held_against

    output = options.output_of(context, json=json)
    found = held_against(file)
    output.result(verification_text(found), {"ok": True, "file": str(file), **as_data(found)})


@application.command()
def fit(
    context: typer.Context,
    file: File,
    *,
    write: Annotated[bool, typer.Option("--write", help="Make them the constants that `plan` reckons with.")] = False,
    json: options.Json = False,
) -> None:
    """Fit the constants to measurements and show their errors on models and GPUs that were held out."""
    from rackwright.capacity.accuracy import calibration_text
    from rackwright.capacity.calibration import as_data, calibrate
    from rackwright.capacity.calibration import write as written
    from rackwright.capacity.constants import DATA

    output = options.output_of(context, json=json)
    found = calibrate(file)
    if write:
        written(found, DATA, file.name)
        output.note(f"Written to {DATA}; `rackwright plan document` brings docs/capacity.md up to date.")
    output.result(calibration_text(found), {"ok": True, "file": str(file), **as_data(found)})


@application.command(hidden=True)
def document(context: typer.Context, *, json: options.Json = False) -> None:
    """Write the parts of docs/capacity.md that follow from the constants."""
    from rackwright.capacity.document import FILE, refreshed

    output = options.output_of(context, json=json)
    if not FILE.is_file():
        raise Refusal(f"There is no {FILE}.", "Run this in a checkout.")
    FILE.write_text(refreshed(FILE.read_text(encoding="utf-8")), encoding="utf-8")
    output.result(f"{FILE} is up to date.", {"ok": True, "file": str(FILE)})


@application.command()
def memory(
    context: typer.Context,
    model: ModelName,
    *,
    gpu: Gpu,
    memory_gb: Annotated[int | None, typer.Option(min=1, help="As sold, where a GPU comes in two sizes.")] = None,
    tensor_parallel: Annotated[int, typer.Option("--tensor-parallel", "-tp", min=1, max=1024)] = 1,
    pipeline_parallel: Annotated[int, typer.Option("--pipeline-parallel", "-pp", min=1, max=64)] = 1,
    data_parallel: Annotated[int, typer.Option("--data-parallel", "-dp", min=1, max=1024)] = 1,
    precision: Annotated[str | None, typer.Option(help="Of the weights; absent: as published.")] = None,
    kv_precision: Annotated[Literal["auto", "fp8"], typer.Option(help="Of the KV cache.")] = "auto",
    memory_fraction: Annotated[float, typer.Option(min=0.01, max=1.0, help="--gpu-memory-utilization.")] = 0.92,
    sequences: Annotated[int | None, typer.Option(min=1, help="--max-num-seqs; absent: the default.")] = None,
    batch_tokens: Annotated[int | None, typer.Option(min=1, help="--max-num-batched-tokens; absent: default.")] = None,
    context_length: Annotated[int | None, typer.Option(min=1, help="--max-model-len; absent: the model's.")] = None,
    engine_version: Annotated[
        str | None, typer.Option(parser=_version, help="vLLM's version, e.g. 0.19.0; absent: newest known.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Say what vLLM's log would: weights, activations, buffers, KV cache in GiB and tokens of each GPU."""
    from rackwright.capacity.feasibility import check, memory_data, memory_text
    from rackwright.capacity.replicas import replica_of

    output = options.output_of(context, json=json)
    replica = replica_of(
        model,
        gpu,
        memory_gb=memory_gb,
        precision=precision,
        tensor_parallel=tensor_parallel,
        pipeline_parallel=pipeline_parallel,
        data_parallel=data_parallel,
        kv_bits=8 if kv_precision == "fp8" else 16,
        memory_fraction=memory_fraction,
        sequences=sequences,
        batch_tokens=batch_tokens or 0,
        version=engine_version,
    )
    length = min(context_length or replica.shape.context_length, replica.shape.context_length)
    if context_length is None and replica.memory.pool > 0:
        length = min(length, max(replica.longest_context, 1))
    check(replica, length)
    output.result(memory_text(replica, length), {"ok": True, **memory_data(replica, length)})


@application.command()
def compare(
    context: typer.Context,
    site: options.Site,
    *,
    model: Annotated[str | None, typer.Option(help="The model's name in the site; absent: its first.")] = None,
    gpu: Annotated[list[str] | None, typer.Option(help="GPUs to compare; absent: the site's.")] = None,
    precision: Annotated[list[str] | None, typer.Option(help="Of the weights; absent: the site's, and fp8.")] = None,
    share: Annotated[float, typer.Option(min=0.0, max=1.0, help="The model's share of the load.")] = 1.0,
    json: options.Json = False,
) -> None:
    """Put ways to serve a model under the site's load side by side: precision, split, GPU."""
    from rackwright.capacity.compare_text import compare_data, compare_text
    from rackwright.capacity.site_plan import ways_for
    from rackwright.site.site import Site

    output = options.output_of(context, json=json)
    ways, out = ways_for(Site.load(site), model, gpu or [], precision or [], share)
    output.result(compare_text(ways, out), {"ok": True, **compare_data(ways, out)})


@application.command(name="site")
def of_site(
    context: typer.Context,
    site: options.Site,
    *,
    tails: Annotated[
        bool, typer.Option("--tails", help="Simulate an hour: P50, P95 and P99 of calls and actions.")
    ] = False,
    share: Annotated[list[str] | None, typer.Option(help="MODEL=SHARE of the load; absent: all the same.")] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write one page with pictures, that needs nothing else.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Reckon a site: GPUs, memory, time, limits. `rackwright plan SITE` is the same."""
    from rackwright.capacity.plan_text import plan_data, plan_text
    from rackwright.capacity.site_plan import plan
    from rackwright.site.site import Site

    output = options.output_of(context, json=json)
    found = Site.load(site)
    phases = plan(found, with_tails=tails, shares=_shares(share or []))
    if html is not None:
        from rackwright.capacity.report.page import write

        write(found, phases, html)
        output.note(f"The page is {html}.")
    output.result(plan_text(found, phases), {"ok": True, **plan_data(found, phases)})


def _shares(stated: list[str]) -> dict[str, float]:
    """MODEL=SHARE as a table; raises a usage error for anything else."""
    shares: dict[str, float] = {}
    for each in stated:
        name, _, value = each.partition("=")
        share = _number(value)
        if not name or not 0 <= share <= 1:
            raise typer.BadParameter(f"{each!r} is not MODEL=SHARE with a share from 0 to 1, such as llama-70b=0.7")
        if name in shares:
            raise typer.BadParameter(f"{name} has two shares, {shares[name]:g} and {share:g}; state one")
        shares[name] = share
    return shares


def _number(text: str) -> float:
    """A number; NaN, which lies in no range, where the text is none."""
    try:
        return float(text)
    except ValueError:
        return float("nan")
