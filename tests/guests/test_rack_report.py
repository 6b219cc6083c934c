"""What Ansible says on guests, read back; and the report of a rehearsal."""

from rackwright.guests.ansible import Ran, read
from rackwright.guests.report import Report

SAID = """
PLAY [Provision the machines] **************************************************

TASK [base : Keep time] ********************************************************
changed: [gpu-01]
ok: [gpu-02]

TASK [storage : Make the group] ************************************************
changed: [gpu-01] => (item=models)
[ERROR]: Task failed: Module failed: the drive is gone
fatal: [gpu-02]: FAILED! =>
    changed: false
    msg: the drive is gone

RUNNING HANDLER [base : Restart the clock] *************************************
changed: [gpu-01]

PLAY RECAP *********************************************************************
gpu-01                     : ok=5    changed=3    unreachable=0    failed=0    skipped=2    rescued=0    ignored=0
gpu-02                     : ok=1    changed=0    unreachable=0    failed=1    skipped=0    rescued=0    ignored=0
"""


def made(first, second=None, kept=None):
    return Report(
        site="lab",
        phase=1,
        playbook="playbooks/site.yml",
        accelerator="tcg",
        cannot_have={"gpu-01": ("No GPU.", "2 GiB."), "gpu-02": ("No GPU.",)},
        steps={"boot": 31.2},
        first=first,
        second=second,
        kept=kept or {},
    )


def well(**changed):
    stats = {"ok": 9, "changed": 0, "failed": 0, "unreachable": 0}
    return Ran(0, "", {"gpu-01": stats, "gpu-02": stats}, changed)


class TestRan:
    def test_figures_stand_by_host(self):
        ran = read(2, SAID)
        assert (ran.stats["gpu-01"]["changed"], ran.stats["gpu-02"]["failed"]) == (3, 1)
        assert not ran.succeeded

    def test_tasks_that_changed_or_failed_stand_by_host(self):
        ran = read(2, SAID)
        assert ran.changed == {"gpu-01": ["base : Keep time", "storage : Make the group", "base : Restart the clock"]}
        assert ran.failed == {"gpu-02": ["storage : Make the group"]}

    def test_the_last_words_are_those_of_the_first_task_with_a_fault(self):
        assert [line[:30] for line in read(2, SAID).last_words()[:4]] == [
            "TASK [storage : Make the group", "changed: [gpu-01] => (item=mod", "[ERROR]: Task failed: Module f",
            "fatal: [gpu-02]: FAILED! =>",
        ]  # fmt: skip
        assert read(4, "one\n\ntwo\nthree\n").last_words(2) == ["two", "three"]


class TestReport:
    def test_succeeds_where_a_second_run_changes_nothing(self):
        found = made(well(), well())
        assert found.succeeded
        assert "ok   finds nothing to do." in found.text()
        assert found.text().endswith("lab, phase 1, playbooks/site.yml ended well on 2 guests; 31 s.")

    def test_fails_where_a_second_run_changes_something(self):
        found = made(well(), well(**{"gpu-01": ["base : Keep time"]}))
        assert not found.succeeded
        assert "FAIL changes again: gpu-01: base : Keep time" in found.text()

    def test_fails_where_a_guest_was_left_out(self):
        first = well()
        del first.stats["gpu-02"]
        found = made(first, well())
        assert not found.succeeded
        assert "gpu-02: nothing ran on it" in found.text()

    def test_says_what_failed_in_ansibles_own_words(self):
        found = made(read(2, SAID))
        assert not found.succeeded
        text = found.text()
        assert "FAIL gpu-02: storage : Make the group" in text
        assert "| [ERROR]: Task failed: Module failed: the drive is gone" in text
        assert "was not made, since the first did not end well." in text
        assert "did NOT end well" in text

    def test_says_once_what_several_cannot_have(self):
        assert "gpu-01, gpu-02: No GPU." in made(well(), well()).text()

    def test_says_how_to_get_in_and_how_to_end_it(self):
        text = made(well(), well(), {"name": "metal-1", "ways_in": {"gpu-01": "nsenter ssh"}}).text()
        assert "gpu-01: nsenter ssh" in text
        assert "End them with: rackwright rehearse --end metal-1" in text

    def test_is_plain_data(self):
        found = made(well(), well()).as_json()
        assert (found["succeeded"], found["seconds"], found["hosts"]["gpu-02"]["cannot_have"]) == (
            True, {"boot": 31.2}, ["No GPU."],
        )  # fmt: skip
        assert made(read(2, SAID)).as_json()["second_run"] is None
