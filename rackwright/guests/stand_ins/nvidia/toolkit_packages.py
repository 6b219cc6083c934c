"""Stand-ins of the container toolkit's four packages."""

from collections.abc import Iterator

from rackwright.guests.stand_ins.deb import Deb, File
from rackwright.guests.stand_ins.nvidia.driver_packages import LIBRARIES, UNITS_CHANGED, WORDS, script

REFRESH = """[Unit]
Description=Refresh NVIDIA CDI specification file (stand-in)
ConditionPathExists=/usr/bin/nvidia-smi
ConditionPathExists=/usr/bin/nvidia-ctk

[Service]
Type=oneshot
Environment=NVIDIA_CTK_CDI_OUTPUT_FILE_PATH=/var/run/cdi/nvidia.yaml
EnvironmentFile=-/etc/nvidia-container-toolkit/nvidia-cdi-refresh.env
ExecCondition=/bin/sh -c 'grep -qE "/(nvidia|nvidia-current)[.]ko" /lib/modules/%v/modules.dep'
ExecStart=/usr/bin/nvidia-smi -L
ExecStart=/usr/bin/nvidia-ctk cdi generate

[Install]
WantedBy=multi-user.target
"""
WATCH = """[Unit]
Description=Trigger CDI refresh on NVIDIA driver or toolkit install / upgrade events (stand-in)

[Path]
PathChanged=/lib/modules/%v/modules.dep
PathChanged=/usr/bin/nvidia-ctk

[Install]
WantedBy=multi-user.target
"""
RUNTIME = "#!/bin/sh\necho 'nvidia-container-runtime is a stand-in by Rackwright' >&2\nexec runc \"$@\"\n"


def toolkit_packages(version: str) -> Iterator[Deb]:
    """One version: each package wants the next of its own version, as the real ones do."""
    package = f"{version}-1"
    tools = f"libnvidia-container-tools (= {package}), nvidia-container-toolkit-base (= {package})"
    yield Deb("nvidia-container-toolkit", package, {"Depends": tools})
    yield Deb("libnvidia-container-tools", package, {"Depends": f"libnvidia-container1 (>= {package})"})
    yield Deb("libnvidia-container1", package, files={f"{LIBRARIES}/libnvidia-container.so.1": File(WORDS)})
    configured = "nvidia-ctk --quiet config --config-file=/etc/nvidia-container-runtime/config.toml --in-place"
    yield Deb(
        "nvidia-container-toolkit-base",
        package,
        {},
        {
            "/usr/bin/nvidia-ctk": script("nvidia_ctk.py", VERSION=version),
            "/usr/bin/nvidia-container-runtime": File(RUNTIME, 0o755),
            "/usr/bin/nvidia-cdi-hook": File(f"#!/bin/sh\n# {WORDS}", 0o755),
            "/usr/lib/systemd/system/nvidia-cdi-refresh.service": File(REFRESH),
            "/usr/lib/systemd/system/nvidia-cdi-refresh.path": File(WATCH),
            "/etc/nvidia-container-toolkit/nvidia-cdi-refresh.env": File("# Stand-in by Rackwright.\n"),
        },
        {"postinst": f"{UNITS_CHANGED}{configured}\n"},
    )
