"""`rackwright rehearse`, `check` and `tools`: what they hand on, and what they say."""

import json
from pathlib import Path

import pytest

from rackwright.cli.output import Output
from rackwright.errors import Refusal

SITE = Path("inventory/lab")


class Outcome:
    """What a rehearsal or a check gives."""

    def __init__(self, *, succeeded: bool) -> None:
        self.succeeded = succeeded

    def text(self) -> str:
        return "All is said."

    def as_json(self) -> dict[str, object]:
        return {"succeeded": self.succeeded}


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command in this process, so that what it calls can be replaced."""
    from rackwright.cli import _run  # noqa: PLC0415 - the command imports what it needs when it runs

    monkeypatch.chdir(Path(__file__).resolve().parents[2])

    def started(*arguments):
        code = _run([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return started


@pytest.fixture
def calls(monkeypatch):
    """What `rehearse` was called with; it gives what is in `outcome`."""
    seen = {"outcome": Outcome(succeeded=True)}

    def rehearse(site, **options):
        seen["site"], seen["options"] = site, options
        options["progress"]("Something goes on.")
        if isinstance(seen["outcome"], Refusal):
            raise seen["outcome"]
        return seen["outcome"]

    monkeypatch.setattr("rackwright.sandbox.rehearsal.rehearse", rehearse)
    return seen


def test_rehearse_hands_on_what_it_is_told(run, calls, tmp_path):
    code, stdout, stderr = run("rehearse", SITE, "--phase", 1, "--charts", "upstream", "--crds", tmp_path, "--keep")
    assert code == 0
    assert calls["site"] == SITE
    options = calls["options"]
    assert (options["phase"], options["charts"], options["crds"], options["keep"]) == (1, "upstream", tmp_path, True)
    assert stdout == "All is said.\n"
    assert stderr.endswith(" s  Something goes on.\n")


def test_a_rehearsal_that_finds_something_ends_with_1_and_its_report(run, calls):
    calls["outcome"] = Outcome(succeeded=False)
    code, stdout, _ = run("rehearse", SITE, "--json")
    assert code == 1
    assert json.loads(stdout) == {"succeeded": False}


def test_a_rehearsal_that_is_refused(run, calls):
    calls["outcome"] = Refusal("The disk is full.", "Make room.")
    code, _, stderr = run("rehearse", SITE)
    assert code == 1
    assert stderr.endswith("The disk is full.\nMake room.\n")
    code, stdout, _ = run("rehearse", SITE, "--json")
    assert code == 1
    assert json.loads(stdout) == {"succeeded": False, "what": "The disk is full.", "cure": "Make room.", "faults": []}


class TestKeptClusters:
    @pytest.fixture(autouse=True)
    def ended(self, monkeypatch):
        ended = []
        monkeypatch.setattr("rackwright.sandbox.control_plane.ControlPlane.kept", lambda: ["lab-1", "lab-2"])
        monkeypatch.setattr("rackwright.sandbox.control_plane.ControlPlane.end", ended.append)
        monkeypatch.setattr("rackwright.guests.rack.Rack.kept", lambda: ["metal-3"])
        monkeypatch.setattr("rackwright.guests.rack.Rack.end", ended.append)
        return ended

    def test_are_listed(self, run):
        assert run("rehearse", "--kept") == (0, "lab-1\nlab-2\nmetal-3\n", "")
        assert json.loads(run("rehearse", "--kept", "--json")[1])["kept"] == ["lab-1", "lab-2", "metal-3"]

    def test_one_is_ended(self, run, ended):
        assert run("rehearse", "--end", "lab-2") == (0, "lab-2 has ended.\n", "")
        assert ended == ["lab-2"]

    def test_all_are_ended(self, run, ended):
        assert run("rehearse", "--end", "all")[0] == 0
        assert ended == ["lab-1", "lab-2", "metal-3"]

    def test_an_unknown_one_is_told(self, run, ended):
        assert run("rehearse", "--end", "lab-3") == (1, "", "Nothing called lab-3 is kept.\nDid you mean lab-2?\n")
        assert not ended


class TestHosts:
    @pytest.fixture(autouse=True)
    def booted(self, monkeypatch):
        seen = {}

        def rehearse(site, phase, names, playbook, **options):
            seen.update(options, site=site, phase=phase, names=names, playbook=playbook)
            return Outcome(succeeded=False)

        monkeypatch.setattr("rackwright.guests.rehearsal.rehearse", rehearse)
        return seen

    def test_all_of_the_phase_run_the_whole_playbook(self, run, booted):
        assert run("rehearse", SITE, "--hosts", "--phase", 2)[0] == 1
        assert (booted["site"], booted["phase"], booted["names"]) == (SITE, 2, [])
        assert (booted["playbook"], booted["size"], booted["keep"]) == (None, None, False)

    def test_some_are_named_in_either_way(self, run, booted):
        run("rehearse", SITE, "--hosts", "--host", "gpu-01, gpu-02", "--host", "agents-01", "--memory", 3072, "--keep")
        assert booted["names"] == ["gpu-01", "gpu-02", "agents-01"]
        assert (booted["size"].memory_mib, booted["keep"]) == (3072, True)

    @pytest.mark.parametrize(
        "arguments", [("--host", "gpu-01"), ("--memory", 3072), ("--hosts", "--charts", "upstream")]
    )
    def test_an_option_that_would_not_be_heard_is_wrong_usage(self, run, booted, arguments):
        assert run("rehearse", SITE, *arguments)[0] == 2
        assert not booted


class TestCheck:
    @pytest.fixture(autouse=True)
    def seen(self, monkeypatch):
        seen = {}

        def check(site, phase, _catalog, **options):
            seen.update(options, site=site.name, phase=phase)
            return Outcome(succeeded=True)

        monkeypatch.setattr("rackwright.checks.check", check)
        return seen

    def test_asks_the_cluster_that_the_site_names(self, run, seen):
        assert run("check", SITE)[0] == 0
        assert seen["kubeconfig"] == Path("~/.kube/lab-phase1").expanduser()
        assert seen["tenant_keys"] == {}

    def test_asks_another_and_takes_the_keys_of_tenants_from_the_vault(self, run, seen, lab, vault, monkeypatch):
        monkeypatch.delenv("ANSIBLE_VAULT_PASSWORD_FILE", raising=False)
        assert run("check", lab, "--kubeconfig", "/nowhere/config", "--phase", 2)[0] == 0
        assert (seen["kubeconfig"], seen["phase"]) == (Path("/nowhere/config"), 2)
        values = vault.read()
        assert seen["tenant_keys"] == {name: values[name] for name in values if name.startswith("tenant_")}

    def test_a_site_without_that_phase(self, run, seen):
        code, _, stderr = run("check", "workstation", "--phase", 2)
        assert (code, seen) == (1, {})
        assert stderr.startswith("The site workstation has no phase 2.")


def test_tools_say_what_is_missing(run, monkeypatch):
    from rackwright.sandbox import tools  # noqa: PLC0415 - replaced below

    monkeypatch.setattr(tools, "find", lambda _: tools.Toolbox({}))
    code, stdout, _ = run("tools", "--json")
    assert code == 1
    assert set(json.loads(stdout)["missing"]) == set(tools.REHEARSAL)


def test_progress_is_on_stderr_whatever_the_form(capsys):
    output = Output()
    output.json = True
    output.progress("one")
    assert capsys.readouterr().out == ""


def test_the_image_of_guests_is_made_on_its_own(run, monkeypatch, tmp_path):
    from rackwright.guests import image  # noqa: PLC0415 - replaced below

    monkeypatch.setattr(image, "ensure", lambda _: image.Image(tmp_path))
    assert run("tools", "--image") == (0, f"The guests' image is in {tmp_path}.\n", "")
