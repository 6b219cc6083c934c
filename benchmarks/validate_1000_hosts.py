"""Validate a site of 1,000 hosts: seconds from an interpreter's start to the site, imports included, and peak memory.

Run: .venv/bin/python benchmarks/validate_1000_hosts.py [HOSTS]
Bound: at most 1 s and 150 MB for 1,000 hosts. The fastest of some runs counts: others slow a run, nothing speeds it up.
"""

import re
import subprocess
import sys
import tempfile
import time
from ipaddress import IPv4Address
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUNS = 5
BOUND_S, BOUND_MB = 1.0, 150.0
PROGRAM = """
import resource, sys
from rackwright.site.site import Site
site = Site.load(sys.argv[1])
print(len(site.hosts), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
DATA = ("models", "vectors", "database", "scratch")


def host(number: int) -> str:
    """One machine: the first serves in both phases, three are control nodes, one in ten trains, one runs agents."""
    others = {8: "agents", 9: "training"}
    role = "control" if number in (1, 2, 3) else others.get(number % 10, "inference")
    gpus = "    gpus: {product: h100_sxm, count: 8, memory_gb: 80, link: nvswitch}\n"
    mac = f"b8:3f:{number >> 8 & 255:02x}:{number & 255:02x}:00"
    ports = "".join(
        f'      - {{name: {name}, mac: "{mac}:{index:02x}", speed_gbps: {speed}{network}}}\n'
        for index, (name, speed, network) in enumerate(
            (("node0", 25, ""), ("node1", 25, ""), ("fabric0", 100, ", network: storage"))
        )
    )
    disks = "".join(
        f"      - {{path: /dev/disk/by-id/nvme-SAMSUNG_MZ_S{number:05}{index}, size_gb: 7680, purpose: {purpose}}}\n"
        for index, purpose in enumerate(DATA)
    )
    return (
        f"  - name: host-{number}\n"
        f"    address: {IPv4Address('10.100.1.0') + number}\n"
        f"    storage_address: {IPv4Address('10.101.1.0') + number}\n"
        f"    phases: {[1, 2] if number == 0 else [2]}\n"
        f"    roles: [{role}]\n    cores: 128\n    memory_gib: 1024\n"
        f"{gpus if role in ('inference', 'training') else ''}"
        f"    nics:\n{ports}    bonds:\n      - {{name: bond0, nics: [node0, node1], network: nodes}}\n"
        f"    disks:\n{disks}"
    )


def site(hosts: int) -> str:
    """The lab's site file with so many machines."""
    text = (ROOT / "inventory" / "lab" / "site.yml").read_text()
    text = re.sub(r"^hosts:\n.*?^gpu:", f"hosts:\n{''.join(map(host, range(hosts)))}gpu:", text, flags=re.M | re.S)
    for old, new in (
        ("10.30.0.0/24, mtu: 9000, gateway: 10.30.0.1", "10.100.0.0/16, gateway: 10.100.0.1"),
        ("10.30.1.0/24", "10.101.0.0/16"),
        ("phase1: {api: 10.30.0.11", "phase1: {api: 10.100.1.0"),
        ("phase2: {api: 10.30.0.5", "phase2: {api: 10.100.0.5"),
        ("address: 10.30.0.6}", "address: 10.100.0.6}"),
        ("pods: 10.44.0.0/16", "pods: 10.64.0.0/12"),
    ):
        assert old in text
        text = text.replace(old, new)
    return text


def main() -> None:
    """Print the figures; exit 1 beyond the bounds."""
    hosts = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "site.yml"
        file.write_text(site(hosts))
        seconds, megabytes = [], []
        for _ in range(RUNS):
            begun = time.perf_counter()
            command = [sys.executable, "-c", PROGRAM, str(file)]
            output = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout.split()
            seconds.append(time.perf_counter() - begun)
            megabytes.append(float(output[1]))
    print(f"{output[0]} hosts: {min(seconds):.2f} s (slowest {max(seconds):.2f} s), {max(megabytes):.0f} MB")
    if hosts <= 1000 and (min(seconds) > BOUND_S or max(megabytes) > BOUND_MB):
        sys.exit(f"beyond the bound of {BOUND_S} s and {BOUND_MB} MB")


if __name__ == "__main__":
    main()
