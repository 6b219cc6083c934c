"""Errors as tables: in the terminal, and as the part of docs/capacity.md that a command writes."""

from collections.abc import Iterable, Mapping
from typing import Any

from rackwright.capacity.calibration import Calibration, HeldOut
from rackwright.capacity.tables import percent, table
from rackwright.capacity.verification import Errors, Verification, by, errors

HEAD = ("", "rows", "TTFT mean", "median", "P90", "worst", "TPOT mean", "median", "P90", "worst")
BEGIN, END = "<!-- accuracy: written by `rackwright plan fit` -->", "<!-- end of accuracy -->"


def verification_text(found: Verification) -> str:
    """A verification for people."""
    free = (errors(each.ttft_error for each in found.free), errors(each.tpot_error for each in found.free))
    groups = {
        "all": free,
        **by(found.free, lambda each: each.row.model),
        **by(found.free, lambda each: each.row.gpu),
    }
    rows = len(found.judged) + len(found.unanswered)
    lines = [f"{rows} rows, {len(found.judged)} answered. Away from limits:", "", _errors(groups)]
    if found.limited:
        lines += ["", f"Past a limit ({len(found.limited)} rows; their times are mostly waiting):", "", _limited(found)]
    if found.unanswered:
        lines += ["", f"Not answered ({len(found.unanswered)} rows):"]
        lines += [f"  line {each.line}: {each.model} on {each.gpu}: {each.reason}" for each in found.unanswered]
    return "\n".join(lines)


def calibration_text(found: Calibration) -> str:
    """A calibration for people."""
    from rackwright.capacity.constants import CONSTANTS  # noqa: PLC0415 - only this text shows them

    values = zip(CONSTANTS, found.constants.values, strict=True)
    constants = table(
        ("constant", "value", "unit", "prior"), [(c.name, f"{value:.3f}", c.unit, c.prior) for c, value in values]
    )
    groups = (("inside", (found.inside,)), ("model held out", found.by_model), ("GPU held out", found.by_gpu))
    tables = [f"{title}:\n\n{_errors(_held_out(part))}" for title, part in groups]
    return "\n\n".join([f"{found.rows} rows.", constants, *tables])


def accuracy_section(data: Mapping[str, Any]) -> str:
    """The accuracy table of the docs, from the data file of the constants."""
    head = "| Held out | Rows | TTFT mean | TTFT P90 | TTFT worst | TPOT mean | TPOT P90 | TPOT worst |"
    lines = [BEGIN, "", head, "|---|---|---|---|---|---|---|---|"]
    for kind in ("by_model", "by_gpu"):
        total: list[Mapping[str, Any]] = list(data["held_out"][kind].values())
        for word, figures in data["held_out"][kind].items():
            lines.append(_markdown(word, figures["rows"], figures["ttft"], figures["tpot"]))
        rows = sum(each["rows"] for each in total)
        means = [sum(each["rows"] * each[part][0] for each in total) / rows for part in ("ttft", "tpot")]
        name = "**all models, each held out**" if kind == "by_model" else "**all GPUs, each held out**"
        lines.append(f"| {name} | {rows} | {percent(means[0])} | | | {percent(means[1])} | | |")
    return "\n".join([*lines, "", END])


def _markdown(word: str, rows: int, ttft: Iterable[float], tpot: Iterable[float]) -> str:
    cells = [word, str(rows), *(percent(value) for value in (*ttft, *tpot))]
    return f"| {' | '.join(cells)} |"


def _held_out(part: Iterable[HeldOut]) -> dict[str, tuple[Errors | None, Errors | None]]:
    return {each.without: (each.ttft, each.tpot) for each in part}


def _errors(groups: Mapping[str, tuple[Errors | None, Errors | None]]) -> str:
    rows = []
    for word, (ttft, tpot) in groups.items():
        if ttft and tpot:
            rows.append((word, ttft.rows, *_cells(ttft), *_cells(tpot)))
    return table(HEAD, rows)


def _cells(part: Errors) -> tuple[str, ...]:
    return tuple(percent(value) for value in (part.mean, part.median, part.p90, part.worst))


def _limited(found: Verification) -> str:
    rows = []
    for each in found.limited:
        row = each.row
        load = f"{row.prompt}/{row.output} x{row.concurrency}"
        name = f"{row.model} {row.gpu} TP{row.replica.tensor_parallel}"
        rows.append((name, load, each.limit, f"{row.ttft_ms:,.0f}", f"{each.ttft_ms:,.0f}", f"{each.tpot_error:+.0%}"))
    return table(("", "load", "limit", "TTFT measured", "reckoned", "TPOT error"), rows)
