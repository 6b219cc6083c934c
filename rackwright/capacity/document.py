"""The parts of docs/capacity.md that follow from data: `rackwright plan document` writes them, a test holds them."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from rackwright.capacity.calls import PATTERNS
from rackwright.capacity.constants import CONSTANTS, DATA, fitted
from rackwright.capacity.disaggregation import NETWORKS_GBPS, apart
from rackwright.capacity.replicas import replica_of
from rackwright.capacity.steady import Load
from rackwright.capacity.tables import percent
from rackwright.capacity.timing import Timing

FILE = Path(__file__).resolve().parents[2] / "docs" / "capacity.md"
PART = re.compile(r"<!-- generated: (\w+) -->\n.*?<!-- end -->", re.DOTALL)
AGENTS = 20
LOADS = ((8192, 300, 0.2), (8192, 300, 0.5), (2000, 400, 1.0))  # prompt, answer, calls a second of one of four replicas
LENGTHS = ((1024, 16), (8192, 16), (8192, 64))


def refreshed(text: str) -> str:
    """The document with its generated parts as they are now."""
    return PART.sub(lambda found: f"<!-- generated: {found[1]} -->\n\n{PARTS[found[1]]()}\n\n<!-- end -->", text)


def _markdown(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)


def _constants() -> str:
    values = fitted().values
    rows = [
        (f"`{each.name}`", f"{value:.3g}", each.unit, each.meaning, f"{each.prior:g} ± {each.spread:g}")
        for each, value in zip(CONSTANTS, values, strict=True)
    ]
    return _markdown(("Constant", "Value", "Unit", "Meaning", "Prior"), rows)


def _accuracy() -> str:
    data: dict[str, Any] = yaml.load(DATA.read_bytes(), Loader=yaml.CSafeLoader)
    head = ("Held out", "Rows", "TTFT mean", "TTFT P90", "TTFT worst", "TPOT mean", "TPOT P90", "TPOT worst")
    rows: list[Sequence[object]] = []
    for kind, name in (("by_model", "all models in turn"), ("by_gpu", "all GPUs in turn")):
        parts: Mapping[str, Any] = data["held_out"][kind]
        rows += [(word, part["rows"], *map(percent, (*part["ttft"], *part["tpot"]))) for word, part in parts.items()]
        total = sum(part["rows"] for part in parts.values())
        ttft, tpot = (sum(p["rows"] * p[time][0] for p in parts.values()) / total for time in ("ttft", "tpot"))
        rows.append((f"**{name}**", total, f"**{percent(ttft)}**", "", "", f"**{percent(tpot)}**", "", ""))
    return _markdown(head, rows)


def _calls() -> str:
    head = ("Pattern", "Mean", "P10", "P50", "P90", "P99", f"{AGENTS} agents weigh like (P10 to P90)")
    rows = []
    for name, calls in PATTERNS.items():
        least, most = calls.quantile(0.1), calls.quantile(0.9)
        cells = [f"{calls.quantile(share):.0f}" for share in (0.1, 0.5, 0.9, 0.99)]
        chats = f"{AGENTS * least:,.0f} to {AGENTS * most:,.0f} chat sessions"
        rows.append((name, f"{calls.mean:.1f}", *cells, chats))
    return _markdown(head, rows)


def _apart() -> str:
    timing = Timing(replica_of("Qwen/Qwen3-32B", "h100_sxm", tensor_parallel=2))
    rows = []
    for prompt, output, calls in LOADS:
        for speed in NETWORKS_GBPS:
            found = apart(timing, Load(calls, prompt, output), 4, speed)
            split = f"{found.prefill} + {found.decode}" if found.prefill else "none"
            rows.append(
                (
                    f"{prompt} / {output}",
                    f"{calls:g}",
                    f"{speed} GbE",
                    f"{timing.prefill_ms(prompt):.0f}",
                    f"{found.transfer_ms:.0f}",
                    split,
                    "yes" if found.pays else "no",
                    found.why,
                )
            )
    head = ("Prompt / answer", "Calls/s", "Network", "Prefill ms", "Transfer ms", "Prefill + decode", "Pays", "Why")
    return _markdown(head, rows)


def _server() -> str:
    """What one server of eight H100 holds and does, by model."""
    rows = []
    for model, precision, split in SERVED:
        replica = replica_of(model, "h100_sxm", precision=precision, tensor_parallel=split, sequences=256)
        timing = Timing(replica)
        times = [f"{timing.decode_ms(at_once, length):.1f}" for length, at_once in LENGTHS]
        name = f"{model.rpartition('/')[2]}, {replica.stored_precision}, {split} GPUs"
        held = f"{replica.sequences_of(8192):.0f}"
        rows.append((name, 8 // split, f"{replica.memory.pool:.1f}", held, f"{timing.prefill_ms(8192):.0f}", *times))
    shown = [f"TPOT ms, {at_once} of {length}" for length, at_once in LENGTHS]
    return _markdown(("Replica", "On 8 GPUs", "KV GiB a GPU", "Sequences of 8k", "Prefill of 8k, ms", *shown), rows)


SERVED = (
    ("meta-llama/Llama-3.3-70B", "bfloat16", 4),
    ("meta-llama/Llama-3.3-70B", "fp8", 2),
    ("Qwen/Qwen3-32B", "bfloat16", 2),
    ("openai/gpt-oss-120b", None, 1),
    ("openai/gpt-oss-120b", None, 2),
    ("Qwen/Qwen3-30B-A3B", "bfloat16", 1),
)
PARTS: dict[str, Callable[[], str]] = {
    "constants": _constants,
    "accuracy": _accuracy,
    "calls": _calls,
    "apart": _apart,
    "server": _server,
}
