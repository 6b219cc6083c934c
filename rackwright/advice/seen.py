"""One model as it was seen: its load and its state, in the words of the reckoning."""

from dataclasses import dataclass

from rackwright.advice.advice import Rests
from rackwright.capacity.demand import Demand
from rackwright.observe.figure import Unit
from rackwright.observe.figures import FIGURES
from rackwright.observe.series import Series

RECENT_S = 900  # over which a figure is averaged for advice


@dataclass(frozen=True)
class Seen:
    """Figures of one model over the last minutes; None where one was not seen."""

    model: str
    series: Series
    longest: int  # context that is served: no call can have more

    def figure(self, name: str) -> float | None:
        """One figure of the model."""
        return self.series.last(f"model:{name}", self.model, RECENT_S)

    @property
    def was_seen(self) -> bool:
        """Whether the engine showed anything."""
        return self.figure("running") is not None

    def demand(self) -> Demand | None:
        """The load as it is asked for; nothing where calls or their tokens were not seen."""
        calls, prompt, output = self.figure("calls"), self.figure("prompt_mean"), self.figure("output_mean")
        if calls is None or prompt is None or output is None or calls <= 0 or prompt <= 0 or output <= 0:
            return None
        prompt, output = (min(max(tokens, 1.0), float(self.longest)) for tokens in (prompt, output))
        new = prompt * (1 - min(max(self.figure("hit_rate") or 0.0, 0.0), 1.0))
        return Demand(
            users_calls=calls,
            agents_calls=0.0,
            prompt=prompt,
            output=output,
            users_new=new,
            agents_new=new,
            sessions=0.0,
        )

    def rests(self, *names: str) -> tuple[Rests, ...]:
        """Those figures as they are shown to people."""
        return tuple(self._rests(name) for name in names)

    def _rests(self, name: str) -> Rests:
        figure, value = FIGURES[f"model:{name}"], self.figure(name)
        shown = "not seen" if value is None else spell(value, figure.unit)
        return Rests(figure.title, shown, figure.record)


def spell(value: float, unit: Unit) -> str:
    """A figure as people read it."""
    if unit == "ratio":
        return f"{value:.0%}"
    if unit == "s":
        return f"{value * 1e3:.0f} ms"
    if unit in ("B", "B/s"):
        return f"{value / 1e9:.3g} G{unit}"
    figure = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return figure + {"1": "", "1/s": " a second", "tokens": " tokens", "tokens/s": " tokens a second"}[unit]
