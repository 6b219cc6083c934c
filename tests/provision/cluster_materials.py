"""What is carried to a host of a rack without the internet: packages and images, made of real programs.

Kubernetes, etcd, containerd, runc, CoreDNS and the network's programs are real. Played are the pause image, a shell
that waits, and kube-vip, whose module nobody publishes: a shell that adds the address.
"""

import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

from cluster_images import Image, import_images, write_image

from rackwright.guests.stand_ins.deb import Deb, File, write_repository
from rackwright.sandbox.tools import declaration, ensure
from rackwright.site.catalog import Catalog

ROUTER = "RACKWRIGHT_KUBE_ROUTER"  # where a kube-router of the catalog's version is; its module is not published
PLACE = "/srv/carried"
ANSWERS = "rackwright.invalid/answers:1"
ANSWER = "a pod of the cluster"
CONTROL_PLANE = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
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
ENABLE = "#!/bin/sh\nset -e\nsystemctl daemon-reload\nsystemctl enable --now {unit}\n"  # as Debian's packages do
# In images that set packet filters: the programs, what they are linked to, and one program that is a shell as well.
FILTERS = (
    "iptables", "libxtables12", "libnftnl11", "libmnl0", "libip4tc2", "libip6tc2", "libnfnetlink0",
    "libnetfilter-conntrack3", "conntrack", "libc6", "ipset", "libipset13", "busybox-static",
)  # fmt: skip
APPLETS = ("sh", "cp", "mv", "sleep", "ip", "cat", "ls", "install", "mkdir", "printf", "modprobe")
WAIT = "trap 'exit 0' TERM INT\nwhile :; do /bin/busybox sleep 3600 & wait $!; done\n"
PAUSE = f"#!/bin/busybox sh\n{WAIT}"
KUBE_VIP = f"#!/bin/busybox sh\n/bin/busybox ip address add $address/$vip_subnet dev $vip_interface\n{WAIT}"


def programs(folder: Path, say: Callable[[str], None]) -> dict[str, Path]:
    """Every real program, by its name; LookupError says which cannot be had here."""
    router = os.environ.get(ROUTER, "")
    if not Path(router).is_file():
        raise LookupError(f"{ROUTER} does not name a kube-router {Catalog.load().images['kube-router'].tag}")
    if not shutil.which("apt-get") or os.geteuid() != 0:
        raise LookupError("it needs root on Debian or Ubuntu: runc and packet filters come from there")
    made = {name: found.path for name, found in ensure((*declaration.NODE, *CONTROL_PLANE), say).items()}
    return {**made, "kube-router": Path(router), "runc": opened(folder / "runc", "runc") / "usr/sbin/runc"}


def opened(root: Path, *packages: str) -> Path:
    """Packages of this machine's own distribution, laid open in a folder and not installed."""
    fetched = root.with_name(f"{root.name}-packages")
    for place in (fetched, *(root / "usr" / name for name in ("bin", "sbin", "lib", "lib64"))):
        place.mkdir(parents=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / name).symlink_to(f"usr/{name}")
    subprocess.run(["apt-get", "download", "-qq", *packages], cwd=fetched, check=True, capture_output=True)
    for deb in fetched.glob("*.deb"):
        data = subprocess.run(["dpkg-deb", "--fsys-tarfile", deb], check=True, capture_output=True).stdout
        subprocess.run(["tar", "--extract", "--keep-directory-symlink", f"--directory={root}"], input=data, check=True)
    return root


def packages(real: Mapping[str, Path]) -> list[Deb]:
    """containerd.io as Docker's, and what pkgs.k8s.io publishes, with the real programs in them."""

    def put(*names: str, folder: str = "/usr/bin") -> dict[str, File]:
        return {f"{folder}/{name}": File(real[name].read_bytes(), 0o755) for name in names}

    def unit(name: str, text: str) -> dict[str, File]:
        return {f"/usr/lib/systemd/system/{name}.service": File(text)}

    catalog = Catalog.load()
    release = f"{catalog.kubernetes.kubeadm}-1.1"
    runtime = put("containerd", "containerd-shim-runc-v2", "ctr", "runc") | unit("containerd", CONTAINERD_UNIT)
    network = put("bridge", "loopback", "host-local", "portmap", folder="/opt/cni/bin")
    kubelet = put("kubelet") | unit("kubelet", KUBELET_UNIT)
    starts = {name: {"postinst": ENABLE.format(unit=name)} for name in ("containerd", "kubelet")}
    version = f"{catalog.packages['containerd']}-1~debian.13~trixie"
    return [
        Deb("containerd.io", version, files=runtime, scripts=starts["containerd"]),
        Deb("kubernetes-cni", "1.9.1-1.1", files=network),
        Deb("kubelet", release, {"Depends": "kubernetes-cni"}, kubelet, starts["kubelet"]),
        Deb("kubeadm", release, files=put("kubeadm")),
        Deb("kubectl", release, files=put("kubectl")),
        Deb("cri-tools", f"{catalog.packages['cri-tools']}-1.1", files=put("crictl")),
    ]


def images(real: Mapping[str, Path], root: Path) -> list[Image]:
    """What kubeadm asks for, what the catalog adds, and one that answers by HTTP."""
    catalog = Catalog.load()
    shell = {"bin/busybox": root / "usr/bin/busybox"}
    listing = [real["kubeadm"], "config", "images", "list", "--kubernetes-version", f"v{catalog.kubernetes.kubeadm}"]
    wanted = subprocess.run(listing, check=True, capture_output=True, text=True).stdout.split()
    made = [_image_of_kubeadm(reference, real, root) for reference in wanted]
    vip, router = (catalog.images[name].reference for name in ("kube-vip", "kube-router"))
    serve = ("/bin/busybox", "httpd", "-f", "-p", "8080", "-h", "/www")
    return [
        *made,
        Image(vip, {**shell, "kube-vip": KUBE_VIP}, entrypoint=("/kube-vip",)),
        Image(router, {"usr/local/bin/kube-router": real["kube-router"]}, root, ("/usr/local/bin/kube-router",)),
        Image(ANSWERS, {**shell, "www/index.html": ANSWER}, entrypoint=serve),
    ]


def _image_of_kubeadm(reference: str, real: Mapping[str, Path], root: Path) -> Image:
    name = reference.rpartition("/")[2].partition(":")[0]
    if name == "pause":
        return Image(reference, {"bin/busybox": root / "usr/bin/busybox", "pause": PAUSE}, entrypoint=("/pause",))
    if name == "coredns":
        return Image(reference, {"coredns": real[name]}, entrypoint=("/coredns",))
    return Image(reference, {f"usr/local/bin/{name}": real[name]}, root if name == "kube-proxy" else None)


def carried(folder: Path, say: Callable[[str], None]) -> Path:
    """One archive for the root of a host: packages at PLACE, and images in containerd's own store."""
    real = programs(folder, say)
    say("Making packages of the real programs.")
    laid = folder / "laid"
    write_repository(laid / PLACE.lstrip("/"), packages(real), "carried")
    root = _filters(folder)
    say("Making images of the real programs.")
    archives = []
    for number, image in enumerate(images(real, root)):
        archives.append(folder / f"{number}.tar")
        write_image(image, archives[-1])
    import_images(real, archives, laid / "var/lib/containerd", folder)
    archive = folder / "served" / "carried.tar"
    archive.parent.mkdir()
    with tarfile.open(archive, "w") as tar:
        tar.add(laid, ".")
    return archive


def _filters(folder: Path) -> Path:
    root = opened(folder / "filters", *FILTERS)
    names = [f"{base}{end}" for base in ("iptables", "ip6tables") for end in ("", "-save", "-restore")]
    links = {f"usr/sbin/{name}": "xtables-nft-multi" for name in names}
    for name, target in {**links, **{f"usr/bin/{applet}": "busybox" for applet in APPLETS}}.items():
        (root / name).unlink(missing_ok=True)
        (root / name).symlink_to(target)
    for unused in ("usr/share", "usr/lib/x86_64-linux-gnu/gconv"):
        shutil.rmtree(root / unused, ignore_errors=True)
    return root
