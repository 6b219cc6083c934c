"""Checks of preflight and verify that a guest would fail for being one, by what it cannot have."""

GPUS = "GPUs, NVSwitches and their kernel module"
SIZE = "a server's memory, threads, drives' speed and operating system"
OUTSIDE = "repositories outside"

EXCUSED = {
    "bridges let gpus speak": GPUS,
    "fabric manager is the drivers": GPUS,
    "flavour drives the gpus found": GPUS,
    "gpus are the sites": GPUS,
    "nvlink 5 is managed": GPUS,
    "switches are the sites": GPUS,
    "cores are the sites": SIZE,
    "memory is the sites": SIZE,
    "system is the sites": SIZE,
    "writes are kept in time": SIZE,
    "driver can be built": OUTSIDE,
    "headers are offered": OUTSIDE,
    "repositories answer": OUTSIDE,
    "upstream answers": OUTSIDE,
}


def sentence() -> str:
    """What the report says of them."""
    return f"Not judged, for want of {'; '.join(dict.fromkeys(EXCUSED.values()))}: {', '.join(EXCUSED)}."
