"""The page that names every check is made from the checks."""

from rackwright.preflight.judge import checks
from rackwright.preflight.reference import PAGE, renewed


def test_the_page_is_current():
    assert renewed(PAGE.read_text()) == PAGE.read_text(), "python -m rackwright.preflight.reference renews it"


def test_every_check_says_in_one_sentence_what_it_asks_for():
    for check in checks():
        assert check.__doc__
        assert check.__doc__.count("\n") == 0
        assert check.__doc__.endswith(".")
        assert "|" not in check.__doc__
