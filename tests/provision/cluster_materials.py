"""What a rack without the internet would be given by hand: packages and images, made of programs that were built.

Kubernetes, containerd, runc, CoreDNS and the network programs are real. Played are the pause image and kube-vip,
whose module is published nowhere: a shell that adds the address.
"""

import io
import json
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from rackwright.guests.stand_ins.deb import Deb, File

KUBELET_UNIT = """[Unit]
Description=kubelet
After=network-online.target

[Service]
Environment="BEGINS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf"
Environment="READS=--kubeconfig=/etc/kubernetes/kubelet.conf --config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=/usr/bin/kubelet $BEGINS $READS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
Restart=always
StartLimitInterval=0
RestartSec=10

[Install]
WantedBy=multi-user.target
"""
CONTAINERD_UNIT = """[Unit]
Description=containerd
After=network.target

[Service]
ExecStart=/usr/bin/containerd
Type=notify
Delegate=yes
KillMode=process
Restart=always
LimitNPROC=infinity
LimitCORE=infinity
TasksMax=infinity
OOMScoreAdjust=-999

[Install]
WantedBy=multi-user.target
"""
ENABLE = "#!/bin/sh\nset -e\nsystemctl daemon-reload\nsystemctl enable --now {unit}\n"  # as Debian's packages do
TOOLS = (
    "iptables", "libxtables12", "libnftnl11", "libmnl0", "libip4tc2", "libip6tc2", "libnfnetlink0",
    "libnetfilter-conntrack3", "conntrack", "libc6", "ipset", "libipset13", "busybox-static",
)  # fmt: skip
LINKS = {
    f"usr/sbin/{name}": "xtables-nft-multi"
    for base in ("iptables", "ip6tables")
    for name in (base, f"{base}-save", f"{base}-restore")
}
APPLETS = ("sh", "cp", "mv", "sleep", "ip", "cat", "ls", "install", "mkdir", "printf")
PAUSE = "#!/bin/busybox sh\ntrap 'exit 0' TERM INT\nwhile :; do /bin/busybox sleep 3600 & wait $!; done\n"
KUBE_VIP = (
    "#!/bin/busybox sh\n/bin/busybox ip address add $address/$vip_subnet dev $vip_interface\n"
    "trap 'exit 0' TERM INT\nwhile :; do /bin/busybox sleep 3600 & wait $!; done\n"
)


@dataclass(frozen=True)
class Image:
    """A container image of one layer."""

    reference: str
    files: Mapping[str, Path | str] = field(default_factory=dict)
    folders: Sequence[Path] = ()
    entrypoint: tuple[str, ...] = ()


def packages(programs: Mapping[str, Path], versions: Mapping[str, str]) -> list[Deb]:
    """containerd.io as Docker's, and what pkgs.k8s.io publishes, with the real programs in them."""

    def put(*names: str, folder: str = "/usr/bin") -> dict[str, File]:
        return {f"{folder}/{name}": File(programs[name].read_bytes(), 0o755) for name in names}

    runtime = put("containerd", "containerd-shim-runc-v2", "ctr", "runc")
    runtime["/usr/lib/systemd/system/containerd.service"] = File(CONTAINERD_UNIT)
    kubelet = put("kubelet") | {"/usr/lib/systemd/system/kubelet.service": File(KUBELET_UNIT)}
    network = put("bridge", "loopback", "host-local", "portmap", folder="/opt/cni/bin")
    release = f"{versions['kubeadm']}-1.1"
    return [
        Deb(
            "containerd.io",
            f"{versions['containerd']}-1~debian.13~trixie",
            files=runtime,
            scripts={"postinst": ENABLE.format(unit="containerd")},
        ),
        Deb("kubernetes-cni", "1.9.1-1.1", files=network),
        Deb(
            "kubelet",
            release,
            {"Depends": "kubernetes-cni"},
            kubelet,
            scripts={"postinst": ENABLE.format(unit="kubelet")},
        ),
        Deb("kubeadm", release, files=put("kubeadm")),
        Deb("kubectl", release, files=put("kubectl")),
        Deb("cri-tools", f"{versions['cri-tools']}-1.1", files=put("crictl")),
    ]


def tools(folder: Path) -> Path:
    """A root file system with a shell and the packet filter's programs, out of Debian's packages."""
    root, fetched = folder / "root", folder / "debs"
    fetched.mkdir(parents=True, exist_ok=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / "usr" / name).mkdir(parents=True, exist_ok=True)
        if not (root / name).is_symlink():
            (root / name).symlink_to(f"usr/{name}")
    subprocess.run(["apt-get", "download", *TOOLS], cwd=fetched, check=True, capture_output=True)
    for deb in fetched.glob("*.deb"):
        data = subprocess.run(["dpkg-deb", "--fsys-tarfile", deb], check=True, capture_output=True).stdout
        subprocess.run(["tar", "--extract", "--keep-directory-symlink", f"--directory={root}"], input=data, check=True)
    for name, target in {**LINKS, **{f"usr/bin/{applet}": "busybox" for applet in APPLETS}}.items():
        (root / name).unlink(missing_ok=True)
        (root / name).symlink_to(target)
    subprocess.run(["rm", "-rf", root / "usr/share", root / "usr/lib/x86_64-linux-gnu/gconv"], check=True)
    return root


def write_image(image: Image, file: Path) -> None:
    """The image as docker keeps it in an archive, uncompressed."""
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode="w") as tar:
        for folder in image.folders:
            for path in sorted(folder.iterdir()):
                tar.add(path, path.name)
        for place, source in image.files.items():
            info = tarfile.TarInfo(place.lstrip("/"))
            content = source.read_bytes() if isinstance(source, Path) else source.encode()
            info.size, info.mode = len(content), 0o755
            tar.addfile(info, io.BytesIO(content))
    digest = sha256(layer.getvalue()).hexdigest()
    configuration = {
        "architecture": "amd64",
        "os": "linux",
        "config": {"Entrypoint": list(image.entrypoint), "Env": ["PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
    }
    described = json.dumps(configuration).encode()
    manifest = [{"Config": "config.json", "RepoTags": [image.reference], "Layers": ["layer.tar"]}]
    with tarfile.open(file, "w") as archive:
        members = {
            "config.json": described,
            "layer.tar": layer.getvalue(),
            "manifest.json": json.dumps(manifest).encode(),
        }
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


def images(programs: Mapping[str, Path], wanted: Sequence[str], catalog: Mapping[str, str], root: Path) -> list[Image]:
    """What kubeadm lists, and what the catalog adds: its references by name."""
    base = {"bin/busybox": root / "usr/bin/busybox"}
    made = []
    for reference in wanted:
        name = reference.rpartition("/")[2].partition(":")[0]
        if name == "pause":
            made.append(Image(reference, {**base, "pause": PAUSE}, entrypoint=("/pause",)))
        elif name == "kube-proxy":
            made.append(Image(reference, {"usr/local/bin/kube-proxy": programs[name]}, [root]))
        else:
            # kubeadm calls the first four by their names; CoreDNS is its image's own entry point.
            entry = ("/coredns",) if name == "coredns" else ()
            place = "coredns" if name == "coredns" else f"usr/local/bin/{name}"
            made.append(Image(reference, {place: programs[name]}, entrypoint=entry))
    made.append(Image(catalog["kube-vip"], {**base, "kube-vip": KUBE_VIP}, entrypoint=("/kube-vip",)))
    router = {"usr/local/bin/kube-router": programs["kube-router"]}
    made.append(Image(catalog["kube-router"], router, [root], ("/usr/local/bin/kube-router",)))
    return made
