"""What Pulumi's own lines become for a person, and a report from what was seen."""

import json

from rackwright.checks.findings import Checked, Outcome, failed, not_seen, passed
from rackwright.checks.run import Verdict
from rackwright.sandbox.events import Events, refused
from rackwright.sandbox.report import Report

URN = "urn:pulumi:phase1::rackwright::rackwright:components:Qdrant$kubernetes:{kind}::qdrant/{name}"


def event(kind, name, type_="apps/v1:StatefulSet", op="create"):
    metadata = {"op": op, "urn": URN.format(kind=type_, name=name), "type": f"kubernetes:{type_}"}
    return json.dumps({kind: {"metadata": metadata}})


def diagnosis(message, severity="error", name="qdrant"):
    return json.dumps(
        {"diagnosticEvent": {"message": message, "severity": severity, "urn": URN.format(kind="x", name=name)}}
    )


def test_a_resource_is_told_when_it_is_begun_and_counted_when_it_is_there():
    events = Events()
    assert list(events.hear(event("resourcePreEvent", "store"))) == ["creating StatefulSet qdrant/store (0 done)"]
    assert events.under_way == ["qdrant/store"]
    assert list(events.hear(event("resOutputsEvent", "store"))) == []
    assert events.under_way == []
    assert (events.done, events.parts["qdrant"].resources) == (1, 1)


def test_what_stays_as_it_is_is_not_told():
    events = Events()
    assert list(events.hear(event("resourcePreEvent", "store", op="same"))) == []
    assert list(events.hear("warning: this is no event")) == []
    assert list(events.hear("")) == []


def test_the_first_error_that_says_something_is_the_reason():
    events = Events()
    for line in (diagnosis("note", "info"), diagnosis("update failed"), diagnosis("error: denied:\n  too large")):
        list(events.hear(line))
    refusal = refused(("up",), 255, events.errors)
    assert refusal.what == "pulumi up stopped at qdrant/qdrant: denied: too large"


def test_an_engine_that_says_nothing_is_told_all_the_same():
    assert "did not say why" in refused(("preview",), 1, []).what
    assert "signal 9" in refused(("up",), -9, []).what
    assert "disk full" in refused(("up",), 1, [("", "write x: no space left on device")]).what


def report(*findings, changes=()):
    verdict = Verdict((Checked("a", "Is it well?", findings),))
    return Report(site="lab", phase=1, vault="none yet", charts=(), crds=(), verdict=verdict, changes=list(changes))


def test_what_was_not_seen_is_no_failure_and_is_said():
    seen = report(passed("a", "is well"), not_seen("b", "it does not run here"))
    assert seen.succeeded
    assert "?    b: it does not run here" in seen.text()
    assert "1 passed, 0 failed, 0 not seen" in seen.text()
    assert json.loads(json.dumps(seen.as_json()))["succeeded"]


def test_a_failure_is_a_failure_whatever_else_passed():
    seen = report(passed("a", "is well"), failed("b", "is gone", "Bring it back."))
    assert not seen.succeeded
    assert seen.verdict.checks[0].outcome is Outcome.FAILED
    assert seen.text().index("FAIL b: is gone") < seen.text().index("ok   a: is well")
    assert "cure: Bring it back." in seen.text()
    assert "did NOT come up as it should" in seen.text()


def test_a_second_run_that_changes_something_is_a_failure():
    seen = report(passed("a", "is well"), changes=["update qdrant/qdrant"])
    assert not seen.succeeded
    assert "update qdrant/qdrant" in seen.text()
    assert seen.as_json()["second_run"] == {"changes": ["update qdrant/qdrant"]}
