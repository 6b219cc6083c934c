"""Stand-ins of the driver's packages for Debian, as NVIDIA's repository has them: relations, services, what breaks."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from rackwright.guests.stand_ins.deb import Deb, File
from rackwright.guests.stand_ins.nvidia.kernel_module import kernel_module

FILES = Path(__file__).parent / "files"
LIBRARIES = "/usr/lib/x86_64-linux-gnu"
UNITS_CHANGED = "#!/bin/sh\nset -e\nif [ -d /run/systemd/system ]; then systemctl daemon-reload; fi\n"
WORDS = "Stand-in by Rackwright; there is no code in it.\n"
FLAVOURS = {
    "open": ("nvidia-kernel-open-dkms", "nvidia-kernel-dkms"),
    "proprietary": ("nvidia-kernel-dkms", "nvidia-kernel-open-dkms"),
}
# As some packages have it: without persistence, not to be enabled, and ended when no program asks for a GPU.
PERSISTENCED = """[Unit]
Description=NVIDIA Persistence Daemon (stand-in)
StopWhenUnneeded=true

[Service]
ExecStart=/usr/bin/nvidia-persistenced --no-persistence-mode --verbose
"""
FABRIC_MANAGER = """[Unit]
Description=NVIDIA fabric manager service (stand-in)

[Service]
ExecStart=/usr/bin/nv-fabricmanager -c /usr/share/nvidia/nvswitch/fabricmanager.cfg

[Install]
WantedBy=multi-user.target
"""


def script(name: str, **words: str) -> File:
    """A program of the stand-ins', with words put in."""
    text = (FILES / name).read_text()
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    return File(text, 0o755)


def driver_packages(version: str) -> Iterator[Deb]:
    """One version of the driver."""
    package = f"{version}-1"
    for flavour in FLAVOURS:
        yield _module(version, flavour)
    yield Deb(
        "nvidia-driver-cuda",
        package,
        # As NVIDIA's: without an exact version, so that apt takes the newest there is.
        {
            "Depends": f"libcuda1 (>= {package}), libnvidia-ml1 (>= {package}), nvidia-modprobe",
            "Conflicts": "nvidia-smi",
        },
        {"/usr/bin/nvidia-smi": script("nvidia_smi.py")},
    )
    yield _library("libcuda1", "libcuda", package, {"Depends": f"libnvidia-ptxjitcompiler1 (= {package})"})
    yield _library("libnvidia-ptxjitcompiler1", "libnvidia-ptxjitcompiler", package)
    yield _library("libnvidia-ml1", "libnvidia-ml", package)
    yield _library("libnvidia-nscq", "libnvidia-nscq", package)
    yield _library("libnvsdm", "libnvsdm", package)
    yield Deb(
        "nvidia-modprobe", package, files={"/usr/bin/nvidia-modprobe": File("#!/bin/sh\nexec modprobe nvidia\n", 0o755)}
    )
    yield Deb("firmware-nvidia-gsp", package, files={f"/usr/lib/firmware/nvidia/{version}/stand-in": File(WORDS)})
    yield Deb(
        "nvidia-persistenced",
        package,
        {"Depends": f"libnvidia-ml1 (>= {package})"},
        {
            "/usr/bin/nvidia-persistenced": script("persistenced.sh"),
            "/usr/lib/systemd/system/nvidia-persistenced.service": File(PERSISTENCED),
        },
        {"postinst": UNITS_CHANGED},
    )
    yield fabric_manager("nvidia-fabricmanager", package)
    yield Deb(
        "nvidia-open",
        package,
        {"Depends": f"nvidia-driver-cuda (>= {package}), nvidia-kernel-open-dkms (>= {package})"},
    )
    yield Deb(
        "cuda-drivers", package, {"Depends": f"nvidia-driver-cuda (>= {package}), nvidia-kernel-dkms (>= {package})"}
    )


def pinning_packages(branches: Iterable[int]) -> Iterator[Deb]:
    """NVIDIA's own way to stay in a branch: a package with a file of preferences."""
    for branch in branches:
        others = ", ".join(f"nvidia-driver-pinning-{each}" for each in branches if each != branch)
        pin = f"Package: nvidia-driver-cuda libcuda1\nPin: version {branch}.*\nPin-Priority: 1000\n"
        yield Deb(
            f"nvidia-driver-pinning-{branch}",
            f"{branch}-1",
            {"Conflicts": others} if others else {},
            {"/etc/apt/preferences.d/nvidia-driver-pin": File(pin)},
        )


def fabric_manager(name: str, package: str, relations: dict[str, str] | None = None) -> Deb:
    """The fabric manager, which no driver depends on."""
    version = package.partition("-")[0]
    return Deb(
        name,
        package,
        relations or {},
        {
            "/usr/bin/nv-fabricmanager": script("fabricmanager.sh", VERSION=version),
            "/usr/share/nvidia/nvswitch/fabricmanager.cfg": File("# Stand-in by Rackwright.\n"),
            "/usr/lib/systemd/system/nvidia-fabricmanager.service": File(FABRIC_MANAGER),
        },
        {"postinst": UNITS_CHANGED},
    )


def subnet_manager() -> Deb:
    """nvlsm, whose version is a date."""
    return Deb("nvlsm", "2025.10.14-1", files={"/opt/nvidia/nvlsm/sbin/nvlsm": File(f"#!/bin/sh\n# {WORDS}", 0o755)})


def _module(version: str, flavour: str) -> Deb:
    name, other = FLAVOURS[flavour]
    built = f"dkms install -m nvidia -v {version}"
    return Deb(
        name,
        f"{version}-1",
        {
            "Depends": f"dkms, kmod, firmware-nvidia-gsp (= {version}-1)",
            "Conflicts": other,
            "Provides": "nvidia-kernel",
        },
        {
            f"/usr/src/nvidia-{version}/nvidia.ko.built": File(kernel_module(version, flavour)),
            "/usr/lib/nvidia-stand-in/load": script("load.sh"),
            "/usr/lib/modprobe.d/nvidia-stand-in.conf": File("install nvidia /usr/lib/nvidia-stand-in/load\n"),
        },
        {
            "postinst": f'#!/bin/sh\nset -e\n[ "$1" = configure ] || exit 0\n{built}\n',
            "prerm": f"#!/bin/sh\nset -e\ndkms remove -m nvidia -v {version}\n",
        },
    )


def _library(name: str, stem: str, package: str, relations: dict[str, str] | None = None) -> Deb:
    version = package.partition("-")[0]
    real = f"{stem}.so.{version}"
    files = {f"{LIBRARIES}/{real}": File(WORDS), f"{LIBRARIES}/{stem}.so.1": File(link=real)}
    return Deb(name, package, relations or {}, files)
