"""Packages of a phase 2 node for tests that begin no cluster: kubeadm is the real one, the others a page of shell."""

from pathlib import Path

from rackwright.guests.stand_ins.deb import Deb, File
from rackwright.site.catalog import Catalog

CONTAINERD = """#!/bin/sh
# containerd --config FILE config dump, containerd config dump, and running until it is ended.
file=/etc/containerd/config.toml
[ "$1" != --config ] || { file=$2; shift 2; }
[ "$1" = config ] && exec cat "$file"
exec sleep infinity
"""
CTR = "#!/bin/sh\nprintf 'Client:\\n  Version:  v{version}\\n\\nServer:\\n  Version:  v{version}\\n'\n"
UNIT = "[Unit]\nDescription={name}\n[Service]\nExecStart={command}\n[Install]\nWantedBy=multi-user.target\n"
ENABLE = "#!/bin/sh\nset -e\nsystemctl daemon-reload\nsystemctl enable --now {unit}\n"  # as Debian's packages do
KUBELET = "#!/bin/sh\n[ -e /var/lib/kubelet/config.yaml ] || { echo no configuration; exit 1; }\nexec sleep infinity\n"
NOTHING = "#!/bin/sh\nexit 0\n"


def stand_ins(kubeadm: Path, *, newer: bool = False) -> list[Deb]:
    """Every package that the roles ask for, at the catalog's version or at a later one."""
    catalog = Catalog.load()
    release = _after(catalog.kubernetes.kubeadm) if newer else catalog.kubernetes.kubeadm
    runtime = _after(catalog.packages["containerd"]) if newer else catalog.packages["containerd"]
    programs = {"kubeadm": kubeadm.read_bytes(), "kubectl": NOTHING, "cri-tools": NOTHING}
    return [
        Deb(
            "containerd.io",
            f"{runtime}-1~debian.13~trixie",
            files={
                "/usr/bin/containerd": File(CONTAINERD, 0o755),
                "/usr/bin/ctr": File(CTR.format(version=runtime), 0o755),
                "/usr/lib/systemd/system/containerd.service": File(
                    UNIT.format(name="containerd", command="/usr/bin/containerd")
                ),
            },
            scripts={"postinst": ENABLE.format(unit="containerd")},
        ),
        Deb("kubernetes-cni", "1.9.1-1.1"),
        Deb(
            "kubelet",
            f"{release}-1.1",
            {"Depends": "kubernetes-cni"},
            {
                "/usr/bin/kubelet": File(KUBELET, 0o755),
                "/usr/lib/systemd/system/kubelet.service": File(
                    UNIT.format(name="kubelet", command="/usr/bin/kubelet\nRestart=always\nRestartSec=10")
                ),
            },
            scripts={"postinst": ENABLE.format(unit="kubelet")},
        ),
        *(
            Deb(name, f"{_version(catalog, name, release)}-1.1", files={f"/usr/bin/{name}": File(program, 0o755)})
            for name, program in programs.items()
        ),
    ]


def _version(catalog: Catalog, name: str, release: str) -> str:
    return catalog.packages["cri-tools"] if name == "cri-tools" else release


def _after(version: str) -> str:
    head, _, last = version.rpartition(".")
    return f"{head}.{int(last) + 1}"
