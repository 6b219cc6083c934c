"""Errors of the reckoning as tables for a terminal."""

from collections.abc import Iterable, Mapping

from rackwright.capacity.calibration import Calibration, HeldOut
from rackwright.capacity.constants import CONSTANTS
from rackwright.capacity.tables import percent, table
from rackwright.capacity.verification import Errors, Verification, by, errors

HEAD = ("", "rows", "TTFT mean", "median", "P90", "worst", "TPOT mean", "median", "P90", "worst")


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
    values = zip(CONSTANTS, found.constants.values, strict=True)
    constants = table(
        ("constant", "value", "unit", "prior"), [(c.name, f"{value:.3f}", c.unit, c.prior) for c, value in values]
    )
    groups = (("inside", (found.inside,)), ("model held out", found.by_model), ("GPU held out", found.by_gpu))
    tables = [f"{title}:\n\n{_errors(_held_out(part))}" for title, part in groups]
    return "\n\n".join([f"{found.rows} rows.", constants, *tables])


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
