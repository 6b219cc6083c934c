"""The load is one that the models can be asked at all."""

from collections.abc import Iterator

from rackwright.site.models import Model
from rackwright.site.reading.judge import Broken
from rackwright.site.workload import Workload


def somebody_calls(workload: Workload) -> Iterator[Broken]:
    """A site for nobody needs no machines."""
    if not workload.users and not workload.agents:
        yield Broken(
            ("workload",), "has users 0 and agents 0", "write how many people and agents work at the same time"
        )


def median_call_fits_a_model(workload: Workload, models: tuple[Model, ...]) -> Iterator[Broken]:
    """The median call, in and out, fits into the longest context that is served."""
    tokens = workload.prompt_tokens + workload.output_tokens
    longest = max(models, key=_context)
    if tokens > longest.context_length:
        yield Broken(
            ("workload", "prompt_tokens"),
            f"is {workload.prompt_tokens}, {tokens} with output_tokens {workload.output_tokens}, and the longest "
            f"context served is {longest.context_length} ({longest.name})",
            "write shorter calls, or serve a longer context_length",
        )


def _context(model: Model) -> int:
    return model.context_length
