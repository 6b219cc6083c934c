"""`rackwright validate` and `rackwright schema`."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("named", ["lab", "inventory/lab", "inventory/lab/", "inventory/lab/site.yml"])
def test_a_site_has_several_names(rackwright, named):
    result = rackwright("validate", named)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("inventory/lab/site.yml: no fault")
    assert result.stderr == ""


def test_a_sound_site_as_json(rackwright):
    answer = json.loads(rackwright("validate", "workstation", "--json").stdout)
    assert answer["succeeded"]
    assert (answer["site"], answer["hosts"], answer["gpus"], answer["phases"]) == ("workstation", 1, 2, [1])
    assert answer["faults"] == []


def test_what_was_not_looked_at_is_said(rackwright):
    assert "Not looked at: the machines, the cluster" in rackwright("validate", "lab").stdout


class TestTheVault:
    def test_is_missing(self, rackwright, lab):
        result = rackwright("validate", lab)
        assert result.returncode == 0
        assert f"There is no vault yet: rackwright secrets init {lab} makes it, with 16 secrets." in result.stdout

    @pytest.mark.usefixtures("vault")
    def test_is_complete(self, rackwright, lab):
        assert "The vault has all 16 secrets." in rackwright("validate", lab).stdout

    def test_lacks_something(self, rackwright, lab, vault):
        vault.write({"k3s_token": vault.read()["k3s_token"]})
        result = rackwright("validate", lab)
        assert result.returncode == 0
        assert "has 15 faults" in result.stdout

    def test_does_not_open(self, rackwright, lab, vault):
        vault.password_file.write_text("another-Password-4821\n")
        result = rackwright("validate", lab)
        assert result.returncode == 0
        assert "does not open with the password" in result.stdout


def test_faults_for_people(rackwright, broken):
    result = rackwright("validate", broken)
    assert result.returncode == 1
    assert result.stdout == ""
    first, *lines = result.stderr.splitlines()
    assert first == f"{broken}/site.yml has {len(lines)} faults:"
    assert f"{broken}/site.yml:9: networks.nodes.mtuu: is not a known key; did you mean mtu?" in lines


def test_faults_as_json(rackwright, broken):
    result = rackwright("validate", broken, "--json")
    assert result.returncode == 1
    assert result.stderr == ""
    answer = json.loads(result.stdout)
    assert not answer["succeeded"]
    fault = next(each for each in answer["faults"] if each["path"] == "networks.nodes.mtuu")
    assert (fault["file"], fault["line"]) == (f"{broken}/site.yml", 9)
    assert fault["what"] == "is not a known key"
    assert "mtu" in fault["cure"]


def test_a_file_that_is_no_yaml_as_json(rackwright, lab):
    (lab / "site.yml").write_text("a: [")
    answer = json.loads(rackwright("validate", lab, "--json").stdout)
    assert set(answer) == {"succeeded", "what", "cure", "faults"}
    assert "not YAML" in answer["what"]


USAGE = {
    ("validate",): "Missing argument",
    ("validate", "lap"): "there is no site lap; did you mean lab?",
    ("validate", "inventory/nowhere"): "there is no site inventory/nowhere; known: example, lab, workstation",
    ("validate", "tests"): "tests is a folder without a site.yml",
    ("validate", "LICENSE"): "LICENSE is a file",
    ("validate", "lab", "workstation"): "unexpected extra argument",
    ("validate", "--jsn", "lab"): "No such option: --jsn",
    ("valdate", "lab"): "Did you mean 'validate'?",
    ("rehearse",): "name a site",
    ("rehearse", "lab", "--phase", "3"): "less than or equal to 2",
    ("rehearse", "lab", "--phase", "one"): "a valid integer",
    ("rehearse", "lab", "--crds", "nowhere"): "does not exist",
    ("secrets", "show", "lab"): "Missing argument",
}


@pytest.mark.parametrize(("arguments", "said"), USAGE.items())
def test_wrong_usage_is_two_lines_and_exit_2(rackwright, arguments, said):
    result = rackwright(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    what, cure = result.stderr.splitlines()
    assert said in what
    assert cure.endswith("--help says what it takes.")


def test_outside_the_checkout_a_bare_name_is_nothing(rackwright, tmp_path):
    result = rackwright("validate", "lab", cwd=tmp_path / "runtime")
    assert result.returncode == 2
    assert "there is no inventory/ here" in result.stderr


def test_control_characters_of_a_file_do_not_reach_the_terminal(rackwright, lab):
    file = lab / "site.yml"
    file.write_text(file.read_text() + '"\\e[31mred\\a": 1\n')
    result = rackwright("validate", lab)
    assert result.returncode == 1
    assert "\x1b" not in result.stderr
    assert "\x07" not in result.stderr


def test_the_schema_is_json(rackwright):
    schema = json.loads(rackwright("schema").stdout)
    assert schema["$schema"]
    assert "hosts" in schema["properties"]
