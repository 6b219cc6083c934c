"""What a guest is excused from."""

from rackwright.guests.excused import EXCUSED, sentence
from rackwright.preflight.judge import checks, spoken


def test_every_excuse_is_of_a_check_and_told():
    assert set(EXCUSED) <= {spoken(check) for check in checks()}
    assert all(name in sentence() for name in EXCUSED)
