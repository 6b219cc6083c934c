"""One run shows everything that is wrong, and nothing that only follows from it."""

import re

import pytest
from fixture_files import valid_file

from rackwright.site.reading.check import MOST_FAULTS
from rackwright.site.reading.faults import SiteRefused
from rackwright.site.reading.judge import Broken, judge
from rackwright.site.reading.unknown import UNKNOWN, NotKnown, is_known, look
from rackwright.site.site import Site


def faults_of(name, folder, *edits):
    """Paths of the faults of a valid site after some edits."""
    text = valid_file(name).read_text()
    for find, write in edits:
        assert find in text
        text = text.replace(find, write, 1)
    (folder / "site.yml").write_text(text)
    with pytest.raises(SiteRefused) as refused:
        Site.load(folder)
    return refused.value.faults


def paths(faults):
    """Where they are."""
    return [fault.path for fault in faults]


def test_faults_of_form_and_of_rules_come_together_in_the_order_of_the_file(tmp_path):
    faults = faults_of(
        "lab",
        tmp_path,
        ("address: 10.30.0.12", "address: 10.99.0.12"),
        ("roles: [training]", "roles: [trainin]"),
        ("address: 10.30.0.41", "address: 10.30.0.42"),
        ("driver_branch: 580", "driver_branch: 581"),
        ("tool_call_parser: hermes", "tool_call_parser: hermex"),
        ("memory_gib: 64, cores: 16", "memory_gib: lots, cores: 16"),
    )
    assert paths(faults) == [
        "hosts[1].address",
        "hosts[3].roles[0]",
        "hosts[6].address",
        "gpu.driver_branch",
        "models[1].tool_call_parser",
        "postgresql.memory_gib",
    ]
    assert [fault.line for fault in faults] == sorted(fault.line for fault in faults)


def test_a_fault_in_one_host_hides_none_in_another_nor_in_itself(tmp_path):
    faults = faults_of(
        "lab",
        tmp_path,
        ("    address: 10.30.0.11\n", "    address: nowhere\n"),
        ("storage_address: 10.30.1.11", "storage_address: 10.30.9.11"),
        ("storage_address: 10.30.1.12", "storage_address: 10.30.9.12"),
    )
    assert paths(faults) == ["hosts[0].address", "hosts[0].storage_address", "hosts[1].storage_address"]


def test_a_host_that_is_a_word_hides_nothing_about_the_others(tmp_path):
    text = valid_file("lab").read_text().replace("address: 10.30.0.12", "address: 10.99.0.12", 1)
    text = text.replace("\nhosts:\n", "\nhosts:\n  - gpu-00\n", 1)
    (tmp_path / "site.yml").write_text(text)
    with pytest.raises(SiteRefused) as refused:
        Site.load(tmp_path)
    assert paths(refused.value.faults) == ["hosts[0]", "hosts[2].address"]


def test_what_cannot_be_counted_for_a_fault_is_not_said_to_be_too_few(tmp_path):
    faults = faults_of("rack", tmp_path, ("roles: [inference, control]", "roles: [inference, contrl]"))
    assert paths(faults) == ["hosts[0].roles[1]"]


def test_a_missing_block_is_one_fault(tmp_path):
    faults = faults_of("minimal", tmp_path, ("vectors: {size_gb: 100, memory_gib: 16}\n", ""))
    assert paths(faults) == ["vectors"]


def test_a_misspelt_key_is_one_fault_and_its_default_is_not_judged(tmp_path):
    faults = faults_of(
        "vlans", tmp_path, ("nodes: {cidr: 10.0.0.0/24, mtu: 1500", "nodes: {cidr: 10.0.0.0/24, mtuu: 1500")
    )
    assert paths(faults) == ["networks.nodes.mtuu"]
    faults = faults_of("minimal", tmp_path, ("    address: 10.0.0.11\n", "    adress: 10.0.0.11\n"))
    assert [(fault.path, fault.cure) for fault in faults] == [("hosts[0].adress", "did you mean address?")]


def test_a_misspelt_key_beside_the_right_one_leaves_that_one_known(tmp_path):
    faults = faults_of(
        "minimal",
        tmp_path,
        ("    address: 10.0.0.11\n", "    adress: 1\n    address: 10.9.0.11\n"),
        ("api: 10.0.0.11", "api: 10.9.0.11"),
    )
    assert paths(faults) == ["hosts[0].adress", "hosts[0].address"]


def test_a_fault_behind_an_anchor_is_shown_once_where_it_is_written(tmp_path):
    faults = faults_of("lab", tmp_path, ("speed_gbps: 100, network: storage", "speed_gbps: 101, network: storage"))
    assert paths(faults) == ["hosts[0].nics[2].speed_gbps"]


def test_every_fault_names_file_line_place_and_cure(tmp_path):
    faults = faults_of("minimal", tmp_path, ("cores: 32", "cores: many"))
    assert str(faults[0]) == (
        f"{tmp_path / 'site.yml'}:12: hosts[0].cores: is 'many', not a whole number; "
        "write another value (processor threads that the system shows)"
    )


def test_one_refusal_says_how_many_there_are(tmp_path):
    text = (
        valid_file("minimal").read_text().replace("cores: 32", "cores: -1").replace("memory_gib: 128", "memory_gib: 0")
    )
    (tmp_path / "site.yml").write_text(text)
    with pytest.raises(SiteRefused) as refused:
        Site.load(tmp_path)
    assert refused.value.what == f"{tmp_path / 'site.yml'} has 2 faults:"


def test_no_message_repeats_a_secret(tmp_path):
    for find, write in (
        ("key: tenant_team_key", "key: Zx81secretvalue!"),
        ("key: tenant_team_key", "key: [Zx81secretvalue]"),
        ("key: tenant_team_key", "key: {Zx81: secretvalue}"),
        ("key: tenant_team_key", "key: zx81secretvalue0123456789"),
        ("key: tenant_team_key", "key: k, password: Zx81secretvalue"),
        ("users: 5", "users: https://me:Zx81secretvalue@host"),
    ):
        faults = faults_of("minimal", tmp_path, (find, write))
        assert not any("secretvalue" in str(fault) for fault in faults), write


USES = """
value.name; value[0]; value(); list(value); len(value); bool(value); str(value); int(value); float(value); hash(value)
abs(value); round(value); -value; range(value); sum([value]); sorted([1, value]); max(1, value); f"{value}"; {value: 1}
value == 1; 1 == value; value != 1; value < 1; 1 < value; 1 in value; value in (1, 2); value in {1, 2}; "x" in [value]
value + 1; 1 + value; value * 2; 2 * value; value / 2; 2 / value; value % 2; value // 2; 2 - value; value - 2
isinstance(value, str); look(value, "name").name; [each for each in value]; not value
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("use", [use.strip() for use in USES if use.strip()])
def test_a_value_that_is_not_known_says_so_whatever_is_asked_of_it(use):
    with pytest.raises(NotKnown):
        eval(use, {"value": UNKNOWN, "look": look})
    assert not is_known(UNKNOWN)
    assert repr(UNKNOWN) == "<unknown>"


@pytest.mark.parametrize(
    "use", ["re.search('x', value)", "', '.join([value])", "'x'.startswith(value)", "value in 'x'"]
)
def test_a_rule_may_hand_what_is_not_known_to_any_function(use):
    def rule(hosts):
        eval(use, {"value": hosts, "re": re})
        yield Broken((), "", "")

    assert not list(judge((rule,), {"hosts": UNKNOWN}))


def test_a_rule_that_is_wrong_itself_is_not_forgiven():
    def rule(hosts):
        yield hosts + "x"

    with pytest.raises(TypeError):
        list(judge((rule,), {"hosts": 1}))


def test_of_more_faults_than_anybody_mends_the_first_are_shown(tmp_path):
    (tmp_path / "site.yml").write_text("".join(f"key-{number}: {number}\n" for number in range(MOST_FAULTS + 100)))
    with pytest.raises(SiteRefused) as refused:
        Site.load(tmp_path)
    assert len(refused.value.faults) == MOST_FAULTS + 1
    assert refused.value.faults[-1].what == f"has more faults than the {MOST_FAULTS} that are shown"
