#!/usr/bin/python
"""What stands on a GPU host, as a module of Ansible's."""

from __future__ import annotations

DOCUMENTATION = """
module: nvidia_driver_facts
short_description: Looks what driver a GPU host has, and changes nothing
description:
  - Reads the package system's records and the kernel's files, and asks nvidia-smi.
  - The answer is judged where Ansible runs, by C(rackwright.metal.driver_found).
author: Rackwright
options:
  patterns: {description: Names of packages of the driver's; with C(*)., type: list, elements: str, required: true}
  packages:
    description: Packages to look for in the repositories; C({kernel}) stands for the running kernel.
    type: list
    elements: str
    required: true
  mark:
    description: The file that keeps nouveau away, by which a driver is also known as ours.
    type: str
    required: true
  asks_gpus: {description: Whether nvidia-smi is asked for each GPU and the fabric., type: bool, default: true}
"""

EXAMPLES = """
- name: Look what is there
  nvidia_driver_facts:
    patterns: ["nvidia-driver*"]
    packages: ["linux-headers-{kernel}"]
    mark: /etc/modprobe.d/rackwright-driver.conf
  register: __nvidia_driver_found
"""

RETURN = """
found:
  description: What is there.
  type: dict
  returned: always
"""

import os  # noqa: E402 - Ansible wants the documentation first
import re  # noqa: E402
import shutil  # noqa: E402
import subprocess  # noqa: E402
from fnmatch import fnmatchcase  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

from ansible.module_utils.basic import AnsibleModule  # noqa: E402

RUNFILE = ("/usr/bin/nvidia-installer", "/usr/bin/nvidia-uninstall")
SERVING = ("k3s", "k3s-agent", "kubelet")
QUERY = ("--query-gpu=index,driver_version,persistence_mode", "--format=csv,noheader")
FABRIC = re.compile(r"^\s+Fabric\s*\n\s+State\s*:\s*(\S.*?)\s*$", re.MULTILINE)
ON_THE_WAY = {"half-installed", "unpacked", "half-configured", "triggers-awaited", "triggers-pending"}
RECORD = "${db:Status-Abbrev}|${Package}|${Version}\\n"
STATES = {"i": "installed", "n": "absent", "c": "absent"}  # the second letter of dpkg's status; others: on the way
ENVIRONMENT = {**os.environ, "LC_ALL": "C", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


def main() -> None:
    """Look, and answer."""
    texts = {"type": "list", "elements": "str", "required": True}
    module = AnsibleModule(
        argument_spec={
            "patterns": texts,
            "packages": texts,
            "mark": {"type": "str", "required": True},
            "asks_gpus": {"type": "bool", "default": True},
        },
        supports_check_mode=True,
    )
    module.exit_json(changed=False, found=look(module.params))


def look(asked: dict[str, Any]) -> dict[str, Any]:
    """Everything that the driver's role decides by."""
    kernel = os.uname().release
    names = [name.replace("{kernel}", kernel) for name in asked["packages"]]
    has_apt = shutil.which("apt-cache", path=ENVIRONMENT["PATH"]) is not None
    found = _apt(asked["patterns"], names) if has_apt else _dnf(asked["patterns"], names)
    return {
        **found,
        "kernel": kernel,
        "is_ours": os.path.exists(asked["mark"]),  # noqa: PTH110 - as short as it gets
        "runfile": [path for path in RUNFILE if os.path.exists(path)],  # noqa: PTH110
        "nouveau": os.path.isdir("/sys/module/nouveau"),  # noqa: PTH112
        "stale_initramfs": _is_older(_initramfs(kernel), Path(asked["mark"])),
        "loaded": _first_line("/sys/module/nvidia/version"),
        "serving": serving(_run("systemctl", "is-active", *SERVING)[1]),
        **_module(),
        **_gpus(asked["asks_gpus"]),
    }


def _apt(patterns: list[str], names: list[str]) -> dict[str, Any]:
    """What dpkg and apt know."""
    packages = recorded(_run("dpkg-query", "-W", "-f", RECORD, *patterns, *names)[1])
    updates = Path("/var/lib/dpkg/updates")
    states = set(_run("dpkg-query", "-W", "-f", "${db:Status-Status}\\n")[1].split())
    return {
        "packages": packages,
        "offers": offered(_run("apt-cache", "madison", *dict.fromkeys([*names, *packages]))[1]),
        "held": _run("apt-mark", "showhold")[1].split(),
        "interrupted": bool(states & ON_THE_WAY) or (updates.is_dir() and any(updates.iterdir())),
    }


def serving(said: str) -> list[str]:
    """Units of a cluster's that run, out of a line for each."""
    return [unit for unit, state in zip(SERVING, said.splitlines()) if state == "active"]  # noqa: B905 - Python 3.9


def recorded(said: str) -> dict[str, dict[str, str]]:
    """Packages by name, out of dpkg's records: a third letter of their status is an error."""
    packages = {}
    for line in said.splitlines():
        status, name, version = line.split("|")
        state = STATES.get(status[1], "half")
        if version and state != "absent":
            packages[name] = {"version": version, "state": state if status[2:].strip() == "" else "half"}
    return packages


def offered(said: str) -> dict[str, list[str]]:
    """Versions by package, out of what `apt-cache madison` says."""
    offers: dict[str, list[str]] = {}
    for line in said.splitlines():
        fields = [part.strip() for part in line.split("|")]
        if len(fields) == 3 and not fields[2].endswith("Sources"):
            offers.setdefault(fields[0], []).append(fields[1])
    return offers


def _dnf(patterns: list[str], names: list[str]) -> dict[str, Any]:
    """What rpm and dnf know; a kernel's own packages are asked for by their name with the version."""
    packages = {}
    for line in _run("rpm", "-qa", "--qf", "%{NAME}|%{VERSION}-%{RELEASE}|%{ARCH}\\n")[1].splitlines():
        name, version, machine = line.split("|")
        full = f"{name}-{version}.{machine}"
        for each in (name, full):
            if each in names or any(fnmatchcase(each, pattern) for pattern in patterns if each == name):
                packages[each] = {"version": version, "state": "installed"}
    offers: dict[str, list[str]] = {}
    wanted = [name for name in names if name not in packages]
    said = _run("dnf", "-q", "repoquery", "--qf", "%{name}|%{version}-%{release}|%{arch}\\n", *wanted)[1]
    for line in said.splitlines() if wanted else []:
        name, version, machine = line.split("|")
        for each in (name, f"{name}-{version}.{machine}"):
            offers.setdefault(each, []).append(version)
    locked = _run("cat", "/etc/dnf/plugins/versionlock.list")[1]
    held = [name for name in packages if re.search(rf"^{re.escape(name)}-\d", locked, re.MULTILINE)]
    return {"packages": packages, "offers": offers, "held": held, "interrupted": False}


def _module() -> dict[str, str]:
    """The module that the running kernel would load."""
    said = _run("modinfo", "nvidia")[1]
    fields = dict(re.findall(r"^(version|license):\s+(\S.*)$", said, re.MULTILINE))
    return {"module_version": fields.get("version", ""), "module_license": fields.get("license", "")}


def _gpus(asks: bool) -> dict[str, Any]:
    """What nvidia-smi shows: a row for each GPU, and the fabric's state of each."""
    if not asks or not shutil.which("nvidia-smi", path=ENVIRONMENT["PATH"]):
        return {"smi_code": 127, "smi_said": "it is not installed"}
    code, out, error = _run("nvidia-smi", *QUERY, seconds=180)
    if code:
        return {"smi_code": code, "smi_said": (out + error).strip()[:300]}
    rows = [[cell.strip() for cell in line.split(",")] for line in out.splitlines() if line.strip()]
    states = FABRIC.findall(_run("nvidia-smi", "-q", seconds=180)[1])
    return {"smi_code": 0, "smi_said": "", "gpus": rows, "fabric": states}


def _initramfs(kernel: str) -> Path:
    debian = Path(f"/boot/initrd.img-{kernel}")
    return debian if debian.exists() else Path(f"/boot/initramfs-{kernel}.img")


def _is_older(image: Path, than: Path) -> bool:
    """True where an image was made before a file that belongs into it."""
    return image.exists() and than.exists() and image.stat().st_mtime < than.stat().st_mtime


def _first_line(path: str) -> str:
    file = Path(path)
    return file.read_text().split("\n", 1)[0].strip() if file.exists() else ""


def _run(*command: str, seconds: int = 60) -> tuple[int, str, str]:
    """A command's code and words; 127 where it is not there, 124 where it does not end."""
    try:
        ended = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=seconds, check=False)
    except FileNotFoundError:
        return 127, "", "it is not installed"
    except subprocess.TimeoutExpired:
        return 124, "", f"it did not answer within {seconds} s"
    return ended.returncode, ended.stdout, ended.stderr


if __name__ == "__main__":
    main()
