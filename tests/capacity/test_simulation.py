"""The simulation: it agrees with the formula where both hold, loses nothing, and shows what a formula cannot."""

from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rackwright.capacity.calls import PATTERNS
from rackwright.capacity.engine import Replica
from rackwright.capacity.flight import Call
from rackwright.capacity.population import BACKGROUND, INTERACTIVE, Population, chat_only
from rackwright.capacity.replicas import replica_of
from rackwright.capacity.simulation import simulate, tails
from rackwright.capacity.steady import Load, steady
from rackwright.capacity.timing import Timing

LLAMA = Timing(replica_of("meta-llama/Llama-3.3-70B", "h100_sxm", precision="fp8", tensor_parallel=4, sequences=256))
COLD = Timing(LLAMA.replica.with_(prefix_caching=False))


def means(made):
    return (
        fmean(call.first - call.came for call in made.calls),
        fmean((call.last - call.first) / (call.output - 1) for call in made.calls if call.output > 1),
    )


@pytest.mark.parametrize("users", [20, 100, 200, 300])
def test_it_agrees_with_the_formula_where_both_hold(users):
    who = chat_only(users, 60, 2000, 300)
    made = simulate(COLD, 1, who, hours=0.5)
    factor = who.mean_length_factor
    found = steady(COLD, Load(who.calls_per_second, 2000 * factor, 300 * factor))
    ttft, tpot = means(made)
    assert found.tpot_ms == pytest.approx(tpot, rel=0.12)
    assert found.ttft_ms == pytest.approx(ttft, rel=0.25)


def test_littles_law_holds_in_it():
    made = simulate(LLAMA, 1, chat_only(150, 60, 2000, 300))
    rate = len(made.calls) / (made.until_ms - made.from_ms)
    at_once = made.in_flight_ms / (made.until_ms - made.from_ms)
    assert at_once == pytest.approx(rate * fmean(call.last - call.came for call in made.calls), rel=0.03)


def test_nothing_is_lost():
    made = simulate(LLAMA, 2, Population(30, 20, 60, PATTERNS["react"], 3000, 300), hours=0.5)
    assert 0 <= made.open_calls < 300
    assert len(made.calls) <= made.started
    assert all(call.came <= call.first <= call.last for call in made.calls)
    assert all(0 <= call.hit < call.prompt for call in made.calls)
    assert all(action.pending == 0 and action.round == action.rounds for action in made.actions)
    assert 0 < made.busy_share <= 1


def test_the_same_seed_gives_the_same_hour():
    who = Population(10, 10, 60, PATTERNS["react"], 2000, 200)
    one, two = (tails(simulate(LLAMA, 2, who, hours=0.2, seed=7)) for _ in range(2))
    assert one == two
    assert tails(simulate(LLAMA, 2, who, hours=0.2, seed=8)) != one


def test_more_users_are_never_served_faster():
    times = [means(simulate(COLD, 1, chat_only(users, 60, 2000, 300), hours=0.5)) for users in (50, 150, 300)]
    assert [round(ttft) for ttft, _ in times] == sorted(round(ttft) for ttft, _ in times)
    assert [tpot for _, tpot in times] == sorted(tpot for _, tpot in times)


def test_more_replicas_shorten_the_tails():
    who = Population(0, 100, 30, PATTERNS["react"].scaled(8), 4000, 400)
    one, four = (tails(simulate(LLAMA, count, who, hours=0.4), BACKGROUND) for count in (1, 4))
    assert four["action_ms"]["p95"] < one["action_ms"]["p95"]
    assert four["tpot_ms"]["p50"] < one["tpot_ms"]["p50"]


def test_an_action_takes_all_its_calls_and_tools():
    quick = Population(0, 20, 30, PATTERNS["react"], 2000, 200, tool_s=0.0)
    slow = Population(0, 20, 30, PATTERNS["react"], 2000, 200, tool_s=20.0)
    fast, waits = (tails(simulate(LLAMA, 1, who)) for who in (quick, slow))
    assert waits["action_ms"]["p50"] > fast["action_ms"]["p50"] + 3 * 20_000 * 0.5
    assert fast["action_ms"]["p50"] > 2 * fast["end_to_end_ms"]["p50"]


def test_calls_at_the_same_time_shorten_an_action():
    narrow = Population(0, 10, 20, PATTERNS["planner"], 2000, 200)
    wide = Population(0, 10, 20, PATTERNS["planner"], 2000, 200, fan_out=4)
    one, four = (tails(simulate(LLAMA, 2, who)) for who in (narrow, wide))
    assert four["action_ms"]["p50"] < one["action_ms"]["p50"] / 2


def test_the_prefix_cache_spares_prompts():
    who = Population(0, 40, 30, PATTERNS["react"].scaled(8), 4000, 300)
    warm, cold = simulate(LLAMA, 1, who, hours=0.5), simulate(COLD, 1, who, hours=0.5)
    found = sum(call.hit for call in warm.calls) / sum(call.prompt for call in warm.calls)
    assert found > 0.6
    assert not any(call.hit for call in cold.calls)
    assert means(warm)[0] < means(cold)[0]


def test_people_go_before_agents_with_priority():
    who = Population(60, 120, 60, PATTERNS["react"].scaled(8), 3000, 300)
    even = tails(simulate(COLD, 1, who, hours=0.3), INTERACTIVE)
    first = tails(simulate(COLD, 1, who, hours=0.3, priority=True), INTERACTIVE)
    assert first["ttft_ms"]["p95"] < even["ttft_ms"]["p95"] / 2


def drained(replica, calls):
    """Run a replica until nothing is left, from all calls at once."""
    now, ended = 0.0, []
    for call in calls:
        replica.offer(call, now)
    replica.start(now)
    while replica.segment is not None:
        now = replica.ends()
        ended += replica.finish()[1]
        replica.start(now)
    return ended


@settings(max_examples=80)
@given(
    lengths=st.lists(st.tuples(st.integers(1, 900), st.integers(1, 120)), min_size=1, max_size=25),
    cache=st.integers(1100, 6000),
    seats=st.integers(1, 12),
    step_tokens=st.integers(64, 1024),
)
def test_a_replica_ends_every_call_whatever_its_room(lengths, cache, seats, step_tokens):
    replica = Replica(LLAMA, step_tokens, seats, float(cache))
    calls = [Call(number % 5, number % 2, prompt, output) for number, (prompt, output) in enumerate(lengths)]
    ended = drained(replica, calls)
    assert sorted(id(call) for call in ended) == sorted(id(call) for call in calls)
    assert replica.used == pytest.approx(0)
    assert replica.context == pytest.approx(0)
    assert replica.queued == 0
    assert 0 <= replica.kept <= cache + 1e-6
    assert all(0 < call.first <= call.last for call in ended)


def test_a_full_cache_preempts_the_least_urgent_and_newest():
    replica = Replica(LLAMA, 8192, 64, 3000.0)
    calls = [Call(number, priority, 600, 400) for number, priority in enumerate((0, 0, 1, 1))]
    ended = drained(replica, calls)
    assert replica.preemptions > 0
    assert [call.preempted > 0 for call in calls[:2]] == [False, False]
    assert len(ended) == 4
