"""What else is wrong with machines, at least once for each check: GPUs, their switches and their driver."""

from broken_machines import (
    KERNEL,
    C,
    Case,
    F,
    U,
    W,
    add,
    both,
    gpu,
    put,
    swap,
)

ROWS = {
    "a GPU fell off the bus": Case(
        "gpu-01",
        "gpus are the sites",
        F,
        lambda answers: answers["gpus"]["devices"].pop(0),
        ("7 x h100_sxm", "8 x h100_sxm"),
    ),
    "other GPUs": Case(
        "ws-01",
        "gpus are the sites",
        F,
        put("gpus", "devices", 0, "device", to="0x2bb1"),
        ("10de:2bb1", "rtx_pro_6000_blackwell"),
    ),
    "GPUs that the site does not know of": Case(
        "agents-01",
        "gpus are the sites",
        W,
        add("gpus", "devices", item={"address": "0000:41:00.0", "device": "0x26b9", "class": "0x030200"}),
        ("1 x l40s",),
    ),
    "Blackwell with the proprietary module": Case(
        "gpu-02",
        "flavour drives the gpus found",
        F,
        put("gpus", "driver_version", to=None),
        ("b200_sxm", "proprietary"),
        "open",
        site=gpu(driver_flavour="proprietary"),
    ),
    "switches fell off the bus": Case(
        "gpu-01",
        "switches are the sites",
        F,
        lambda answers: answers["gpus"].update(
            devices=[each for each in answers["gpus"]["devices"] if each["class"] != "0x068000"]
        ),
        ("no NVSwitch",),
    ),
    "NVLink 5 without ib_umad and nvlsm": Case(
        "gpu-02",
        "nvlink 5 is managed",
        C,
        both(
            lambda answers: answers["system"]["modules"].remove("ib_umad"),
            swap("packages", "installed", "out", old="ii  nvlsm 2025.10.14-1\n", new=""),
        ),
        ("ib_umad", "nvlsm", "802"),
    ),
    "NVLink 5 without its bridges": Case(
        "gpu-02",
        "nvlink 5 is managed",
        F,
        lambda answers: [device.update(manages_switches=False) for device in answers["network"]["rdma"]],
        ("SW_MNG",),
    ),
    "NVLink 5 that cannot be seen": Case(
        "gpu-02", "nvlink 5 is managed", U, put("network", "rdma", to=[]), ("mlx5_ib",)
    ),
    "ACS that only root may read": Case(
        "gpu-01",
        "bridges let gpus speak",
        U,
        put("gpus", "bridges", "0000:17:00.0", to={"read": False, "control": None}),
        ("root",),
    ),
    "Secure Boot is off and wanted": Case(
        "gpu-01",
        "secure boot is the sites",
        W,
        lambda _: None,
        ("Secure Boot off",),
        site=gpu(secure_boot=True),
    ),
    "signed modules are not there for the kernel": Case(
        "gpu-01",
        "headers are offered",
        F,
        lambda _: None,
        (f"linux-modules-nvidia-580-server-open-{KERNEL}",),
        site=gpu(driver_source="distribution", secure_boot=False),
    ),
    "a driver of the installer": Case(
        "gpu-01",
        "driver is of one branch",
        F,
        add("leftovers", "paths", item="/usr/bin/nvidia-uninstall"),
        (".run",),
        "nvidia-uninstall",
    ),
    "the other flavour of the driver": Case(
        "ws-01",
        "driver is the catalogs",
        C,
        swap("gpus", "driver_version", old="Open Kernel Module", new="Kernel Module"),
        ("proprietary", "open"),
    ),
}
