"""Measurements of serving in a CSV file, one run a row, and the replica that each was made with."""

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from rackwright.capacity.deployment import Deployment
from rackwright.capacity.hardware import hardware
from rackwright.capacity.names import find_shape, short
from rackwright.errors import Refusal
from rackwright.site.known.tensors import BITS_PER_PARAMETER
from rackwright.site.reading.text_file import read_text

PUBLISHED = Path(__file__).parent / "data" / "published.yml"
REQUIRED = (
    "model", "gpu", "weights", "tensor_parallel", "input_tokens", "output_tokens", "concurrency", "ttft_ms", "tpot_ms",
)  # fmt: skip
PRECISIONS = {
    "bf16": "bfloat16", "fp16": "float16", "half": "float16", "fp32": "float32", "fp4": "nvfp4", "w4a16": "int4",
    "int4_wo": "int4", "w8a8": "int8", "fp8_block": "fp8", "fp8_static": "fp8",
}  # fmt: skip
GPU_NAMES = {  # as tables shorten them
    "a100": "a100_sxm", "h100": "h100_sxm", "h200": "h200_sxm", "b200": "b200_sxm", "b300": "b300_sxm",
    "gb200": "b200_sxm", "gb200_sxm": "b200_sxm", "gb300": "b300_sxm", "gb300_sxm": "b300_sxm",
    "rtx_pro_6000": "rtx_pro_6000_blackwell", "rtx_pro_6000_server": "rtx_pro_6000_blackwell",
}  # fmt: skip
MOST_IN_FLIGHT = 8192
MOST_TOKENS = 10_000_000


@dataclass(frozen=True)
class Measurement:
    """One run: the replica, its load, and what was measured, in ms."""

    line: int
    model: str
    gpu: str
    replica: Deployment
    prompt: int
    output: int
    concurrency: int
    ttft_ms: float
    tpot_ms: float


@dataclass(frozen=True)
class Unanswered:
    """A row that cannot be reckoned, and why."""

    line: int
    model: str
    gpu: str
    reason: str


def read_measurements(file: Path) -> list[Measurement | Unanswered]:
    """Rows of a file; raises Refusal where it is no such table."""
    reader = csv.DictReader(io.StringIO(read_text(file)))
    missing = [name for name in REQUIRED if name not in (reader.fieldnames or ())]
    if missing:
        cure = f"Begin it with a line of column names: {', '.join(REQUIRED)}."
        raise Refusal(f"{file} has no column {', '.join(missing)}.", cure)
    rows: list[Measurement | Unanswered] = []
    try:
        for row in reader:
            rows.append(_row({key: value or "" for key, value in row.items() if isinstance(key, str)}, reader.line_num))
    except csv.Error as error:
        raise Refusal(f"{file}:{reader.line_num}: not CSV ({error}).", "Mend that line.") from None
    if not rows:
        raise Refusal(f"{file} has no rows.", "Write one run a row.")
    return rows


def _row(row: Mapping[str, Any], line: int) -> Measurement | Unanswered:
    model, gpu = str(row["model"]).strip(), str(row["gpu"]).strip()
    try:
        concurrency = _count(row, "concurrency", MOST_IN_FLIGHT)
        replica = _replica(row, model, gpu, concurrency)
        return Measurement(
            line,
            model,
            gpu,
            replica,
            _count(row, "input_tokens", MOST_TOKENS),
            _count(row, "output_tokens", MOST_TOKENS),
            concurrency,
            _time(row, "ttft_ms"),
            _time(row, "tpot_ms"),
        )
    except Refusal as refusal:
        return Unanswered(line, model, gpu, str(refusal))


def _replica(row: Mapping[str, Any], model: str, gpu: str, concurrency: int) -> Deployment:
    shape, device = find_shape(model), hardware(GPU_NAMES.get(gpu.lower(), gpu))
    gpu = device.name
    stated = str(row.get("moe_weights") or row["weights"]) if shape.experts else str(row["weights"])
    precision = _precision(stated) or shape.native_precision
    flags = _published({"models": short(model), "gpus": gpu, "families": device.family, "precisions": precision})
    sequences = flags["sequences"]
    version = str(row.get("engine_version") or "") or ("0.11" if str(row.get("measured", "")) < "2026" else None)
    return Deployment(
        name=model,
        shape=shape,
        precision=precision,
        hardware=device,
        tensor_parallel=_count(row, "tensor_parallel", 1024),
        data_parallel=_count(row, "data_parallel", 1024, default=1),
        expert_parallel=_count(row, "expert_parallel", 1024, default=1) > 1,
        kv_bits=8 if str(row.get("kv_precision") or flags["kv_precision"]).startswith("fp8") else 16,
        memory_fraction=flags["memory_fraction"],
        sequences=concurrency if sequences == "concurrency" else max(int(sequences), 1),
        batch_tokens=flags.get("batch_tokens", 0),
        prefix_caching=False,
        version=version,
    )


def _precision(stated: str) -> str | None:
    word = PRECISIONS.get(stated.strip().lower(), stated.strip().lower())
    if word and word not in BITS_PER_PARAMETER:
        raise Refusal(f"The precision {stated[:40]!r} is not known.", f"Write one of {', '.join(BITS_PER_PARAMETER)}.")
    return word or None


def _count(row: Mapping[str, Any], name: str, most: int, default: int | None = None) -> int:
    text = str(row.get(name) or "").strip()
    if not text and default is not None:
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 1 <= value <= most or value != int(value):
        raise Refusal(f"{name} is {text[:40]!r}, not a whole number from 1 to {most}.", "Mend that row.")
    return int(value)


def _time(row: Mapping[str, Any], name: str) -> float:
    text = str(row[name]).strip()
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < 1e12:
        raise Refusal(f"{name} is {text[:40]!r}, not milliseconds.", "Mend that row.")
    return value


def _published(row: Mapping[str, str]) -> dict[str, Any]:
    """The flags of the first entry that says nothing else of the row's model, GPU, family and precision."""
    return next(
        (entry for entry in _entries() if all(word in entry.get(key, (word,)) for key, word in row.items())), {}
    )


@cache
def _entries() -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = yaml.load(PUBLISHED.read_bytes(), Loader=yaml.CSafeLoader)
    return entries
