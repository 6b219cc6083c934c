"""What k3s and the kubelet in it look at before they start, in the words that they have for it."""

import socket

from rackwright.guests.stand_ins.k3s.program.configuration import Value, argument
from rackwright.guests.stand_ins.k3s.program.place import ROOT, Trouble, at

SYSCTLS = {
    "vm/overcommit_memory": 1,
    "vm/panic_on_oom": 0,
    "kernel/panic": 10,
    "kernel/panic_on_oops": 1,
    "kernel/keys/root_maxkeys": 1000000,
    "kernel/keys/root_maxbytes": 25000000,
}
RUNTIME_FOLDERS = (
    "/usr/local/nvidia/toolkit",
    "/opt/kwasm/bin",
    "/usr/sbin",
    "/usr/local/sbin",
    "/usr/bin",
    "/usr/local/bin",
)
RUNTIMES = {"nvidia": "nvidia-container-runtime", "nvidia-cdi": "nvidia-container-runtime.cdi"}
OWN_RUNTIMES = ("runc", "crun")


def check(found: dict[str, Value], kind: str) -> None:
    """Trouble at the first thing that keeps the real program from starting."""
    _files(found, kind)
    _network(found)
    if found.get("protect-kernel-defaults"):
        _kernel()
    wished = found.get("default-runtime")
    if isinstance(wished, str) and wished not in {*runtimes(), *OWN_RUNTIMES}:
        raise Trouble(f"default runtime {wished} was not found")


def runtimes() -> dict[str, str]:
    """Runtimes of NVIDIA's that are on the machine, by the name that they get in containerd."""
    found = {
        name: next((f"{folder}/{program}" for folder in RUNTIME_FOLDERS if at(f"{folder}/{program}").exists()), None)
        for name, program in RUNTIMES.items()
    }
    return {name: path for name, path in found.items() if path}


def token(found: dict[str, Value]) -> str:
    """The secret that was given; Trouble without one."""
    if isinstance(found.get("token"), str):
        return str(found["token"]).strip()
    named = found.get("token-file")
    if not isinstance(named, str):
        raise Trouble("no token was given, and the real program would make one that no vault holds")
    if not at(named).exists():
        raise Trouble(f"open {named}: no such file or directory")
    given = at(named).read_text(encoding="utf-8").strip()
    if not given:
        raise Trouble(f"{named} is empty")
    return given


def bears(address: str) -> bool:
    """True where the machine has the address itself."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


def _files(found: dict[str, Value], kind: str) -> None:
    named = [found.get("resolv-conf")]
    if kind == "server":
        for name in ("admission-control-config-file", "audit-policy-file"):
            named.append(argument(found, "kube-apiserver-arg", name))
    for path in named:
        if isinstance(path, str) and not at(path).exists():
            raise Trouble(f"open {path}: no such file or directory")
    log = argument(found, "kube-apiserver-arg", "audit-log-path")
    if log and not at(log).parent.is_dir():
        raise Trouble(f"open {log}: no such file or directory")


def _network(found: dict[str, Value]) -> None:
    link = found.get("flannel-iface")
    if isinstance(link, str) and not at(f"/sys/class/net/{link}").exists():
        raise Trouble(f"unable to find interface {link}: route ip+net: no such network interface")
    routes = at("/proc/net/route").read_text(encoding="utf-8").splitlines()[1:]
    if not any(line.split()[1] == "00000000" for line in routes if line.split()):
        raise Trouble("no default routes found in /proc/net/route or /proc/net/ipv6_route")


def _kernel() -> None:
    for name, wished in SYSCTLS.items():
        there = int(at(f"/proc/sys/{name}").read_text(encoding="utf-8"))
        if there != wished:
            raise Trouble(f"invalid kernel flag: {name}, expected value: {wished}, actual value: {there}")


def is_the_machine_itself() -> bool:
    """False in a test that gave another root."""
    return str(ROOT) == "/"
