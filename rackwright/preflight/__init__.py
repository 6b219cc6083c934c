"""Whether machines are what their site says, before anything is done to them: facts in, findings out."""

from rackwright.preflight.excuses import excused
from rackwright.preflight.finding import Finding, Weight
from rackwright.preflight.judge import judge
from rackwright.preflight.questions import questions
from rackwright.preflight.verdict import Verdict, verdict

__all__ = ["Finding", "Verdict", "Weight", "excused", "judge", "questions", "verdict"]
