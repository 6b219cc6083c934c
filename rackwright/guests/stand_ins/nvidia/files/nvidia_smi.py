#!/usr/bin/python3
"""Stand-in by Rackwright for nvidia-smi: shows the GPUs that a rehearsal wrote down, where a driver would work."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

RUN = Path("/run/nvidia-stand-in")
MACHINE = Path("/etc/nvidia-stand-in/machine.json")
LIBRARY = Path("/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1")
MISMATCH, NO_MODULE, USAGE = 18, 9, 2


def main() -> int:
    """What is asked for, or why it cannot be shown."""
    words = sys.argv[1:]
    if subprocess.run(["modprobe", "nvidia"], capture_output=True, check=False).returncode:
        print("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver (stand-in).")
        return NO_MODULE
    loaded = (RUN / "loaded").read_text().strip()
    library = str(LIBRARY.readlink()).partition(".so.")[2]
    if loaded != library:
        print("Failed to initialize NVML: Driver/library version mismatch (stand-in)")
        print(f"NVML library version: {library}")
        return MISMATCH
    machine = json.loads(MACHINE.read_text()) if MACHINE.exists() else {"gpus": 0}
    query = next((word.partition("=")[2] for word in words if word.startswith("--query-gpu=")), "")
    if query:
        return rows(query.split(","), machine, loaded)
    if words in (["-L"], ["--list-gpus"]):
        for index in range(machine["gpus"]):
            print(f"GPU {index}: {machine['name']} (UUID: GPU-stand-in-{index})")
        return 0
    if words == ["-q"]:
        return details(machine, loaded)
    print(f"NVIDIA-SMI {loaded} by Rackwright, a stand-in: {machine['gpus']} GPUs that are not there")
    return 0 if not words else USAGE


def rows(fields: list[str], machine: dict[str, Any], loaded: str) -> int:
    """A line for each GPU."""
    for index in range(machine["gpus"]):
        known = {
            "index": str(index),
            "name": machine["name"],
            "driver_version": loaded,
            "persistence_mode": said("persistence", "Disabled"),
            "pci.bus_id": f"00000000:{0x10 + index:02X}:00.0",
            "memory.total": f"{machine['memory_mib']} MiB",
        }
        unknown = [field for field in fields if field not in known]
        if unknown:
            print(f'Field "{unknown[0]}" is not a valid field to query (stand-in).')
            return USAGE
        print(", ".join(known[field] for field in fields))
    return 0


def details(machine: dict[str, Any], loaded: str) -> int:
    """The long form, as far as it is read."""
    print(f"==============NVSMI LOG (stand-in)==============\n\nDriver Version                            : {loaded}")
    for index in range(machine["gpus"]):
        print(f"\nGPU 00000000:{0x10 + index:02X}:00.0\n    Product Name                          : {machine['name']}")
        if machine.get("fabric"):
            print(f"    Fabric\n        State                             : {said('fabric', 'In Progress')}")
    return 0


def said(what: str, otherwise: str) -> str:
    """What a daemon left word of."""
    file = RUN / what
    return file.read_text().strip() if file.exists() else otherwise


if __name__ == "__main__":
    sys.exit(main())
