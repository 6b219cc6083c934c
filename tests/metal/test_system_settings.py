"""Settings of the kernel that every host has."""

from rackwright.metal.system import KEPT, SETTINGS, differing_settings
from rackwright.preflight.parsers.driver import excluded_from_upgrades, kept_from_upgrades


def test_a_setting_with_another_value_is_seen():
    said = "\n".join(f"{each.key} = {each.value}" for each in SETTINGS)
    assert differing_settings(said) == []
    assert differing_settings(said.replace("kernel.panic = 10", "kernel.panic = 0")) == ["kernel.panic"]
    assert differing_settings("") == [each.key for each in SETTINGS], "what is not there differs"


def test_figures_that_the_kernel_joins_by_tabs_are_the_same():
    said = "\n".join(f"{each.key} = {each.value}" for each in SETTINGS).replace("4096 131072", "4096\t131072")
    assert differing_settings(said) == []


def test_every_setting_says_why_and_stands_once():
    assert all(each.why for each in SETTINGS)
    assert len({each.key for each in SETTINGS}) == len(SETTINGS)


def test_the_kubelet_gets_what_it_demands():
    """The figures of its --protect-kernel-defaults."""
    demanded = {
        "vm.overcommit_memory": "1",
        "vm.panic_on_oom": "0",
        "kernel.panic": "10",
        "kernel.panic_on_oops": "1",
        "kernel.keys.root_maxkeys": "1000000",
        "kernel.keys.root_maxbytes": "25000000",
    }
    assert demanded.items() <= {each.key: each.value for each in SETTINGS}.items()


def test_preflight_understands_what_is_kept_from_upgrades():
    listed = "\n".join(f'Unattended-Upgrade::Package-Blacklist:: "{start}";' for start in KEPT["deb"])
    assert set(kept_from_upgrades(listed)) == set(KEPT["deb"])
    assert set(excluded_from_upgrades(f"[base]\nexcludepkgs = {' '.join(KEPT['rpm'])}\n")) == set(KEPT["rpm"])
