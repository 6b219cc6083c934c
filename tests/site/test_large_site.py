"""The site of many machines that a benchmark times is one that is taken."""

import sys
from pathlib import Path

from rackwright.site.site import Site

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from validate_1000_hosts import site


def test_a_site_of_a_hundred_machines_is_taken(tmp_path):
    (tmp_path / "site.yml").write_text(site(100))
    assert len(Site.load(tmp_path).hosts) == 100
