"""What the module nvidia_driver_facts makes of the words of package systems; and the filters over plain data."""

import sys
from pathlib import Path

import pytest
import yaml
from driver_bench import CATALOG, KERNEL, wanted

from rackwright.inventory import inventory
from rackwright.site.site import Site

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "playbooks/roles/nvidia_driver/library"), str(ROOT / "playbooks/filter_plugins")]

from metal_driver import FilterModule  # noqa: E402
from nvidia_driver_facts import FABRIC, offered, recorded, serving  # noqa: E402

FILTERS = FilterModule().filters()
SMI = """    Persistence Mode                      : Enabled
    Fabric
        State                             : In Progress
        Status                            : N/A
    Clocks
"""


@pytest.fixture(scope="module")
def blocks():
    found = inventory(Site.load(ROOT / "inventory" / "example"), CATALOG)
    return found.hosts["hgx-01"]["host"], found.shared["site"], found.shared["catalog"]


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("ii ", "installed"),
        ("hi ", "installed"),
        ("iU ", "half"),
        ("iF ", "half"),
        ("iH ", "half"),
        ("iiR", "half"),
        ("iHR", "half"),
    ],
)
def test_a_package_is_installed_or_on_the_way(status, state):
    assert recorded(f"{status}|libcuda1|580.173.02-1\n") == {"libcuda1": {"version": "580.173.02-1", "state": state}}


@pytest.mark.parametrize("status", ["rc ", "un ", "pn "])
def test_a_package_that_is_gone_is_not_there(status):
    assert recorded(f"{status}|libcuda1|{'580.1-1' if status == 'rc ' else ''}\n") == {}


def test_offers_are_of_packages_and_not_of_sources():
    said = (
        " libcuda1 | 595.91.07-1 | https://mirror/debian13/x86_64  Packages\n"
        " libcuda1 | 580.173.02-1 | https://mirror/debian13/x86_64  Packages\n"
        "nvidia-graphics-drivers | 550.163.01-2 | http://mirror/debian trixie/non-free Sources\n"
    )
    assert offered(said) == {"libcuda1": ["595.91.07-1", "580.173.02-1"]}


def test_the_fabrics_state_is_read_from_the_long_form():
    assert FABRIC.findall(SMI * 2) == ["In Progress", "In Progress"]


def test_filters_take_and_give_plain_data(blocks):
    plan = FILTERS["nvidia_driver_of"](*blocks)
    assert plan["gpus"] == 8
    assert plan["repository"]["suite"] == "/"
    fresh = {"kernel": KERNEL, "packages": {}}
    assert f"linux-headers-{KERNEL}" in FILTERS["driver_missing"](fresh, plan)
    assert FILTERS["driver_is_complete"](fresh, plan) is False
    assert FILTERS["driver_unwanted"](fresh, plan, "Remv bash [5]\n", False) == ["it would remove bash"]
    assert FILTERS["container_toolkit_of"](*blocks)["package_system"] == "apt"


def test_the_role_takes_the_plan(blocks):
    spec = yaml.safe_load((ROOT / "playbooks/roles/nvidia_driver/meta/argument_specs.yml").read_text())[
        "argument_specs"
    ]
    options = spec["main"]["options"]["nvidia_driver_plan"]["options"]
    assert set(options) == set(FILTERS["nvidia_driver_of"](*blocks))
    assert wanted().package_system in options["package_system"]["choices"]


def test_a_node_in_service_is_known_by_what_runs():
    assert serving("inactive\nactive\ninactive\n") == ["k3s-agent"]
    assert serving("unknown\nunknown\nactive\n") == ["kubelet"]
    assert serving("") == []
