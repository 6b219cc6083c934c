"""Provisioning as ratios in one run: a second run beside the first, 16 hosts beside one, whom one node more touches.

Run: .venv/bin/python benchmarks/provision.py [guest] [SITE]
With `guest` (a quarter of an hour where it is emulated) a site's machines boot, and site.yml runs on them twice. Python
stays in a guest from task to task: an emulated processor takes seconds to start it, and the emulator would be measured.
Bounds: a second run at most 0.25 of the first; preflight of 16 hosts at most 3 times that of one; one host is touched;
preflight of one machine that is not emulated at most 20 s.

That machine is this one, which is asked all that a site's are, but without SSH; what it is told of is not in order, and
what cannot be reached from here takes its time to be given up. The 16 hosts are recorded: the real playbook over
Ansible's local connection, and a module that waits as long as a machine takes to be asked, then gives a recorded
answer. What is measured is the share of Ansible and of the judgement, not 16 networks.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import validate_1000_hosts

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import kept_python  # noqa: E402 - beside the tests

ANSIBLE = Path(sys.executable).with_name("ansible-playbook")
ANSWER = ROOT / "tests" / "fixtures" / "machines" / "gpu-01.json"
ASKED_S = 5.0  # about what a server takes: pings, small writes, its repositories
SECOND_RUN, SIXTEEN, TOUCHED, NATIVE_S = 0.25, 3.0, 1, 20.0
HOSTS = 24  # of the generated site: 16 that are asked, and roles enough for a whole one
MODULE = """\
#!/usr/bin/python
import json, time
from ansible.module_utils.basic import AnsibleModule

NAMES = "time_servers names disks peers doors packages urls flush_folder token_salt".split()
module = AnsibleModule(argument_spec={{name: {{"type": "raw"}} for name in NAMES}}, supports_check_mode=True)
time.sleep({seconds})
with open({answer!r}) as file:
    module.exit_json(changed=False, answers=json.load(file))
"""
HERE = "ansible_connection: local\nansible_become: false\nansible_python_interpreter: {python}\n"


def checkout(folder: Path) -> Path:
    """The playbooks with a module that plays a machine, and a site of many."""
    shutil.copytree(ROOT / "playbooks", folder / "playbooks", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "ansible.cfg", folder)
    (folder / "inventory").symlink_to(ROOT / "inventory")
    module = folder / "playbooks" / "roles" / "preflight_facts" / "library" / "preflight_facts.py"
    module.write_text(MODULE.format(seconds=ASKED_S, answer=str(ANSWER)))
    site = folder / "many"
    (site / "group_vars" / "all").mkdir(parents=True)
    (site / "site.yml").write_text(validate_1000_hosts.site(HOSTS))
    (site / "group_vars" / "all" / "here.yml").write_text(HERE.format(python=sys.executable))
    return site


def ansible(folder: Path, *arguments: str | Path) -> tuple[float, str]:
    """Seconds of one run, and what it said."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
    began = time.monotonic()
    done = subprocess.run(
        [ANSIBLE, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return time.monotonic() - began, done.stdout + done.stderr


def sixteen() -> dict[str, Any]:
    """Preflight of 16 hosts beside one; the faster of two runs counts."""
    with tempfile.TemporaryDirectory(prefix="rackwright-benchmark-") as name:
        folder = Path(name)
        site = checkout(folder)
        seconds: dict[int, float] = {}
        for count in (1, 16):
            limit = ",".join(f"host-{number}" for number in range(count))
            arguments = ("-i", site, "playbooks/preflight.yml", "-e", "preflight_phase=2", "--limit", limit)
            runs = [ansible(folder, *arguments) for _ in range(2)]
            for _, said in runs:
                if f"{count} host{'s' * (count > 1)} asked" not in said:
                    sys.exit(f"Preflight of {count} came to no judgement:\n{said[-2000:]}")
            seconds[count] = min(each for each, _ in runs)
    ratio = seconds[16] / seconds[1]
    return {"connection": "recorded", "one_s": round(seconds[1], 1), "ratio": round(ratio, 2), "bound": SIXTEEN}


def native() -> dict[str, Any]:
    """Preflight of this machine as if it were the example's server, beside its bound."""
    with tempfile.TemporaryDirectory(prefix="rackwright-benchmark-") as name:
        site = Path(name) / "here"
        (site / "group_vars" / "all").mkdir(parents=True)
        shutil.copy(ROOT / "inventory" / "example" / "site.yml", site)
        (site / "group_vars" / "all" / "here.yml").write_text(HERE.format(python=sys.executable))
        seconds, said = ansible(ROOT, "-i", site, "playbooks/preflight.yml")
        if "1 host asked" not in said:
            sys.exit(f"Preflight came to no judgement:\n{said[-2000:]}")
    return {"connection": "local", "seconds": round(seconds, 1), "ratio": round(seconds / NATIVE_S, 2), "bound": 1}


def touched() -> dict[str, Any]:
    """Hosts on which plays run when one node is added to the lab's phase 2; a server is asked for its token besides."""
    told = ("-e", "node=gpu-03 act=add phase=2")
    _, said = ansible(ROOT, "-i", "inventory/lab", "playbooks/node.yml", *told, "--list-hosts")
    lines = {line.strip() for line in said.splitlines() if line.startswith("      ")}
    hosts = sorted(lines - {"localhost"})
    return {"of": 8, "hosts": hosts, "ratio": len(hosts), "bound": TOUCHED}


def second_run(site: str) -> dict[str, Any]:
    """The second run of site.yml beside the first, on guests."""
    command = [str(ROOT / "bin" / "rackwright"), "rehearse", site, "--hosts", "--json"]
    environment = os.environ | kept_python.settings()
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    report = json.loads(done.stdout)
    if done.returncode:
        sys.exit(f"The rehearsal failed (exit code {done.returncode}): {report.get('failed') or report.get('what')}")
    first, second = (report["seconds"][name] for name in ("first run", "second run"))
    return {
        "site": site,
        "by": report["accelerator"],
        "first_s": first,
        "ratio": round(second / first, 2),
        "bound": SECOND_RUN,
    }


def main(arguments: Sequence[str]) -> int:
    """Print a line a figure; 1 where a bound is missed."""
    figures = {
        "preflight of this machine": native,
        "preflight of 16 hosts": sixteen,
        "hosts touched by one more": touched,
    }
    if arguments[:1] == ["guest"]:
        site = (*arguments, "inventory/workstation")[1]
        figures["second run"] = lambda: second_run(site)
    missed = False
    for name, measure in figures.items():
        found = measure()
        missed |= found["ratio"] > found["bound"]
        print(json.dumps({"figure": name, **found}), flush=True)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
