"""Whatever a machine answers, preflight says findings or one clear sentence, and never fails itself."""

import json
from functools import cache
from typing import Any

from fleet import answers_of, site_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rackwright.preflight import Finding, judge, verdict
from rackwright.site.catalog import Catalog

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=12,
)
WORDS = st.text(max_size=60) | st.sampled_from(
    [
        "[]",
        "{}",
        "null",
        "[1]",
        '[{"ifname": 1}]',
        '{"blockdevices": null}',
        "tcp LISTEN",
        "a,b",
        "9" * 5000,
        "\0",
        "[" * 5000,
    ]
)
TIMES = settings(suppress_health_check=list(HealthCheck))


@cache
def places() -> tuple[tuple[str | int, ...], ...]:
    """Every place in the answers of a machine."""

    def below(value: Any, path: tuple[str | int, ...]):
        yield path
        steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for step, inner in steps:
            yield from below(inner, (*path, step))

    return tuple(path for path in below(answers_of("gpu-01"), ()) if path)


def look(answers: Any) -> tuple[Finding, ...]:
    return judge(site_of("gpu-01"), 2, Catalog.load(), {"gpu-01": answers}, {"k3s_token": "t" * 40})


@given(PLAIN)
@TIMES
def test_any_json_at_all(answers):
    for finding in look(answers):
        assert finding.what
        assert finding.cure


@given(st.data(), PLAIN | WORDS)
@TIMES
def test_any_json_anywhere_in_real_answers(data, value):
    answers = answers_of("gpu-01")
    path = data.draw(st.sampled_from(places()))
    place: Any = answers
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    for finding in look(answers):
        assert finding.what
        assert "Traceback" not in finding.what
    found = verdict(site_of("gpu-01"), 2, Catalog.load(), {"gpu-01": answers}, {})
    assert found.text()
    json.dumps(found.as_json())


@given(st.text(max_size=400))
@TIMES
def test_any_reason_why_a_host_could_not_be_asked(reason):
    found = verdict(site_of("gpu-01"), 2, Catalog.load(), {}, {"gpu-01": reason})
    assert not found.succeeded
    assert found.findings[0].cure
