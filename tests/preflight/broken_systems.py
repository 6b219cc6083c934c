"""What else is wrong with machines, at least once for each check: the system: kernel, memory, names and time."""

from broken_machines import (
    C,
    Case,
    F,
    W,
    add,
    both,
    put,
    swap,
)

ROWS = {
    "another distribution": Case(
        "control-01",
        "system is the sites",
        F,
        swap("system", "os_release", old='ID="rocky"', new='ID="almalinux"'),
        ("almalinux 9.6", "rocky 9"),
    ),
    "another processor": Case(
        "agents-01", "system is the sites", F, put("system", "machine", to="aarch64"), ("aarch64",)
    ),
    "an old kernel": Case(
        "gpu-01", "kernel is new enough", F, put("system", "kernel", to="4.18.0-553.el8"), ("4.18", "5.14")
    ),
    "a kernel of clouds": Case(
        "ws-01",
        "kernel is new enough",
        W,
        both(
            put("system", "kernel", to="6.12.48+deb13-cloud-amd64"),
            swap("packages", "offered", "out", old="+deb13-amd64", new="+deb13-cloud-amd64"),
        ),
        ("cloud",),
        "linux-image-amd64",
    ),
    "control groups of both versions": Case(
        "gpu-01",
        "control groups are version 2",
        F,
        put(
            "system",
            "cgroup_mounts",
            to="cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0",
        ),
        ("version 1",),
        "unified_cgroup_hierarchy",
    ),
    "swap is on": Case(
        "gpu-01",
        "swap is off",
        C,
        both(
            add("swap", "swaps", item="/swap.img\tfile\t8388604\t0\t-2\n"),
            swap("swap", "fstab", old="#/swap.img", new="/swap.img"),
        ),
        ("/swap.img", "/etc/fstab"),
        "swapoff",
    ),
    "swap comes back by a unit": Case(
        "gpu-01",
        "swap is off",
        C,
        put("swap", "units", "out", to="dev-zram0.swap loaded active active Compressed Swap\n"),
        ("dev-zram0.swap", "after a reboot"),
    ),
    "swap in memory": Case("ws-01", "swap is off", C, put("swap", "zram", to=["/etc/default/zramswap"]), ("zramswap",)),
    "a memory module is missing": Case(
        "gpu-02",
        "memory is the sites",
        F,
        put("system", "meminfo", to="MemTotal:       2044723200 kB\n"),
        ("1950", "2048"),
    ),
    "more memory than is known of": Case(
        "agents-01",
        "memory is the sites",
        W,
        put("system", "meminfo", to="MemTotal:       1056964608 kB\n"),
        ("1008", "512"),
    ),
    "huge pages are set aside": Case(
        "gpu-01",
        "huge pages are not set aside",
        W,
        swap("system", "meminfo", old="HugePages_Total:       0", new="HugePages_Total:   65536"),
        ("128 GiB",),
    ),
    "threads are off": Case("gpu-01", "cores are the sites", F, put("system", "cores", to=64), ("64", "128")),
    "more threads than are known of": Case(
        "gpu-01", "cores are the sites", W, put("system", "cores", to=256), ("256", "128")
    ),
    "another name": Case(
        "gpu-01", "name is the sites", F, put("system", "name", to="ubuntu"), ("ubuntu", "gpu-01"), "hostnamectl"
    ),
    "one time server is silent": Case(
        "gpu-01",
        "time servers answer",
        W,
        put("clock", "servers", "10.30.0.2", to={"offset_s": None, "error": "timed out"}),
        ("10.30.0.2", "timed out"),
    ),
    "every time server is silent": Case(
        "ws-01",
        "time servers answer",
        F,
        put("clock", "servers", "192.168.40.1", to={"offset_s": None, "error": "timed out"}),
        ("192.168.40.1",),
        "123",
    ),
    "a wrong clock": Case(
        "gpu-01", "clock is right", F, put("clock", "servers", "10.30.0.2", "offset_s", to=-93.2), ("93.2 s behind",)
    ),
    "a wrong clock that nobody keeps yet": Case(
        "gpu-01",
        "clock is right",
        C,
        both(
            put("clock", "servers", "10.30.0.2", "offset_s", to=-93.2),
            swap("clock", "chrony", "out", old="Normal", new="Not synchronised"),
        ),
        ("93.2 s behind",),
        "provisioning",
    ),
    "a clock that nobody keeps": Case(
        "gpu-01",
        "clock is kept",
        C,
        swap("clock", "chrony", "out", old="Normal", new="Not synchronised"),
        ("synchronise",),
    ),
    "a clock that timedatectl says is not kept": Case(
        "ws-01",
        "clock is kept",
        C,
        swap("clock", "timedatectl", "out", old="NTPSynchronized=yes", new="NTPSynchronized=no"),
        ("synchronise",),
    ),
    "a name that does not resolve": Case(
        "gpu-01",
        "names resolve",
        W,
        put("lookups", "names", "nvidia.github.io", to={"seconds": 0.1, "error": "Name or service not known"}),
        ("nvidia.github.io",),
        "resolv.conf",
    ),
    "names that take long": Case(
        "gpu-01",
        "names resolve",
        W,
        put("lookups", "names", "pkgs.k8s.io", "seconds", to=5.02),
        ("5.0 s",),
    ),
    "other resolvers": Case(
        "control-01",
        "name servers are the sites",
        C,
        put("lookups", "resolv_conf", to="nameserver 8.8.8.8\n"),
        ("8.8.8.8", "10.30.0.2"),
    ),
    "a login that waits for a name": Case(
        "gpu-01",
        "logins are quick",
        W,
        put("lookups", "reverse", to={"address": "10.30.0.250", "seconds": 10.01, "error": "Host name lookup failure"}),
        ("10.0 s", "10.30.0.250", "SSH"),
        "UseDNS",
    ),
}
