"""What people and agents ask of one replica: calls a second, tokens, and what of a prompt is in the cache already."""

from dataclasses import dataclass

from rackwright.capacity.calls import PATTERNS, Calls
from rackwright.capacity.deployment import Deployment
from rackwright.capacity.population import TURNS, Population
from rackwright.capacity.steady import Load
from rackwright.site.workload import Workload


@dataclass(frozen=True)
class Demand:
    """Calls a second of people and of agents, with mean tokens of prompts, answers and what is new in a prompt."""

    users_calls: float
    agents_calls: float
    prompt: float
    output: float
    users_new: float
    agents_new: float
    sessions: float  # contexts that would like to stay in the cache

    @property
    def calls(self) -> float:
        """Calls a second of all."""
        return self.users_calls + self.agents_calls

    def on(self, replica: Deployment, replicas: int) -> Load:
        """The load of one of so many replicas; a cache too small for idle sessions makes their prompts new again."""
        new = (self.users_calls * self.users_new + self.agents_calls * self.agents_new) / self.calls
        kept = min(1.0, replicas * replica.data_parallel * replica.sequences_of(self.prompt) / max(self.sessions, 1.0))
        cached = (self.prompt - new) * kept if replica.prefix_caching else 0.0
        return Load(self.calls / replicas, self.prompt, self.output, max(cached, 0.0))


def population(workload: Workload, share: float = 1.0, context_length: int = 1 << 30) -> Population:
    """Who calls one model, which gets this share of all sessions."""
    return Population(
        users=round(workload.users * share),
        agents=round(workload.agents * share),
        actions_per_hour=workload.actions_per_hour,
        calls=calls_of(workload),
        prompt_tokens=workload.prompt_tokens,
        output_tokens=workload.output_tokens,
        growth_tokens=workload.growth_tokens,
        fan_out=workload.fan_out,
        tool_s=workload.tool_s,
        longest=context_length,
    )


def calls_of(workload: Workload) -> Calls:
    """The spread of calls of an agent's action, with the mean that the site states."""
    return PATTERNS[workload.pattern].scaled(workload.calls_per_action)


def demand(who: Population, scale: float = 1.0) -> Demand:
    """Means of what a population asks for; `scale` makes it larger or smaller."""
    prompt = min(who.prompt_tokens * who.mean_length_factor, float(who.longest))
    output = min(who.output_tokens * who.mean_length_factor, float(who.longest))
    rounds, per_second = who.rounds, who.actions_per_hour / 3600 * scale
    first = max(prompt - (rounds - 1) / 2 * who.growth_tokens, 1.0)
    later = max(who.growth_tokens - output, 0.0) + 1
    return Demand(
        users_calls=who.users * per_second,
        agents_calls=who.agents * who.calls.mean * per_second,
        prompt=prompt,
        output=output,
        users_new=min(prompt / TURNS + (1 - 1 / TURNS) * max(prompt * 0.3, 1.0), prompt),
        agents_new=min((first + (rounds - 1) * later) / rounds, prompt),
        sessions=(who.users + who.agents * who.fan_out) * scale,
    )
