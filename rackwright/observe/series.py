"""Recorded figures: what `advise` judges, from Prometheus or from a file."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rackwright.errors import Refusal
from rackwright.observe.figures import FIGURES

Value = float | None
LARGEST = 1e30  # beyond, squares overflow; a NaN is not below it either


class Series(BaseModel):
    """Figures at even steps: by figure, by subject, one value a step, None where nothing was seen."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    start: float = Field(description="Seconds since 1970 of the first value.")
    step_s: Annotated[float, Field(gt=0)]
    figures: Mapping[str, Mapping[str, tuple[Value, ...]]]

    @property
    def steps(self) -> int:
        """How many values the longest has."""
        return max((len(values) for each in self.figures.values() for values in each.values()), default=0)

    def subjects(self, figure: str) -> Iterable[str]:
        """Of whom a figure was seen."""
        return self.figures.get(figure, {})

    def values(self, figure: str, subject: str) -> Sequence[Value]:
        """A subject's values; empty where none were seen. What is no number, or larger than any site's, is none."""
        found = self.figures.get(figure, {}).get(subject, ())
        return tuple(value if value is not None and abs(value) < LARGEST else None for value in found)

    def last(self, figure: str, subject: str, window_s: float = 300) -> Value:
        """The mean of the newest values; nothing where none of them was seen."""
        newest = self.values(figure, subject)[-max(1, round(window_s / self.step_s)) :]
        seen = [value for value in newest if value is not None]
        return sum(seen) / len(seen) if seen else None


def load(file: Path) -> Series:
    """A recorded file; Refusal where it is none."""
    try:
        found = Series.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal(f"{file} cannot be read ({error}).", "Name a file that `advise --save` wrote.") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"][:3])) or "the file"
        raise Refusal(f"{file}: {place}: {first['msg']}.", "Name a file that `advise --save` wrote.") from None
    unknown = sorted(set(found.figures) - set(FIGURES))
    if unknown:
        raise Refusal(
            f"{file} holds the figure {unknown[0][:60]}, which is not known.", "docs/observe.md lists the known ones."
        )
    return found


def save(series: Series, file: Path) -> None:
    """Write them down, so that they can be judged again."""
    try:
        file.write_text(json.dumps(series.model_dump()) + "\n", encoding="utf-8")
    except OSError as error:
        raise Refusal(f"{file} cannot be written ({error.strerror}).", "Name another file.") from None
