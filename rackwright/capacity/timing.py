"""Milliseconds of a step, of a prompt and of a token on one replica."""

from dataclasses import dataclass
from functools import cached_property
from operator import mul

from rackwright.capacity.closed_loop import Schedule, Step
from rackwright.capacity.constants import Fitted, fitted
from rackwright.capacity.deployment import Deployment
from rackwright.capacity.work import Work


@dataclass(frozen=True)
class Timing:
    """The model of time for one replica."""

    replica: Deployment
    constants: Fitted | None = None

    @cached_property
    def known(self) -> Fitted:
        """The constants in use."""
        return self.constants or fitted()

    @cached_property
    def work(self) -> Work:
        """What steps have to do."""
        return Work(self.replica)

    @cached_property
    def _weights(self) -> tuple[float, ...]:
        return self.known.step_weights

    def step_ms(self, decodes: float, context: float, prefill: float = 0.0, pairs: float = 0.0) -> float:
        """One step, in ms."""
        return float(sum(map(mul, self._weights, self.work.step(decodes, context, prefill, pairs))))

    def steps_ms(self, step: Step) -> float:
        """All of a Step's equal steps; contexts grow by one in each."""
        middle = step.context + step.decodes * (step.count - 1) / 2
        return step.count * self.step_ms(step.decodes, middle, step.prefill, step.pairs)

    def request_ms(self, prompt: float, decode_ms: float) -> float:
        """What a request takes beside the steps that compute its prompt, on a replica whose steps last `decode_ms`."""
        known = self.known
        return known["request"] + known["token"] * 1e-3 * prompt + known["waiting"] * decode_ms

    def prefill_ms(self, prompt: float, cached: float = 0.0) -> float:
        """The steps that compute a prompt of which `cached` tokens are in the cache already, alone on the replica."""
        total, done = 0.0, min(cached, prompt - 1)
        while done < prompt:
            part = min(float(self.replica.step_tokens), prompt - done)
            total += self.step_ms(0, 0, part, part * (done + (part + 1) / 2))
            done += part
        return total

    def decode_ms(self, sequences: float, context: float) -> float:
        """One step in which so many sequences of so many tokens each get their next token."""
        return self.step_ms(sequences, sequences * context)

    def measured(self, run: Schedule, prompt: float) -> tuple[float, float]:
        """Mean time to the first token and mean time of each further one, in ms, of a closed loop's schedule."""
        first, further = run.mean(self.steps_ms)
        return first + self.request_ms(prompt, further), further
