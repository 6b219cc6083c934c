"""What the site is for: the load it must carry and how fast it must answer."""

from typing import Literal

from pydantic import Field

from rackwright.site.settings import Settings


class Workload(Settings):
    """People and agents, and how many model calls they make."""

    users: int = Field(default=0, ge=0, le=10_000_000, description="People who chat at the same time.")
    agents: int = Field(default=0, ge=0, le=10_000_000, description="Agents at work at the same time.")
    actions_per_hour: float = Field(
        default=20, gt=0, le=100_000, description="Actions that each of them starts in an hour."
    )
    calls_per_action: float = Field(
        default=8, ge=1, le=1_000, description="Model calls of one agent's action: ReAct 3 to 10."
    )
    prompt_tokens: int = Field(default=4_000, ge=1, le=10_000_000, description="Tokens in, at the median call.")
    output_tokens: int = Field(default=400, ge=1, le=1_000_000, description="Tokens out, at the median call.")
    pattern: Literal["react", "planner", "tracelab"] = Field(
        default="react", description="How calls of an agent's action spread around their mean; all have a heavy tail."
    )
    growth_tokens: int = Field(
        default=1_000, ge=0, le=1_000_000, description="By which an agent's context grows from call to call."
    )
    fan_out: float = Field(default=1, ge=1, le=100, description="Calls of an agent's action at the same time.")
    tool_s: float = Field(default=5, ge=0, le=86_400, description="Seconds of tools between two calls, on average.")


class Targets(Settings):
    """What is promised; alerts and gates are set from it."""

    ttft_p95_ms: float = Field(
        default=1_000, gt=0, le=3_600_000, description="Time to the first token, 95th percentile, in ms."
    )
    tpot_p95_ms: float = Field(
        default=50, gt=0, le=3_600_000, description="Time for each further token, 95th percentile, in ms."
    )
    qdrant_p95_ms: float = Field(default=50, gt=0, le=3_600_000, description="A vector search, 95th percentile, in ms.")
    agent_round_trip_ms: float = Field(
        default=1,
        ge=0.02,
        le=3_600_000,
        description="From agent server to inference and back, in ms; two switches take 0.02.",
    )
