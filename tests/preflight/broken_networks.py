"""What else is wrong with machines, at least once for each check: ports, bonds, addresses and ways."""

from broken_machines import (
    OWN_LIMIT,
    ROUTER_LIMIT,
    C,
    Case,
    F,
    W,
    apart,
    both,
    link,
    put,
    silent,
    slow,
    swap,
)

ROWS = {
    "no RDMA device where caches move": Case(
        "gpu-01",
        "caches have ports",
        W,
        put("network", "rdma", to=[]),
        ("fabric0", "llama-70b"),
        "mlx5_ib",
        site=apart("llama-70b"),
    ),
    "a port is missing": Case(
        "gpu-01",
        "ports are there",
        F,
        lambda answers: answers["network"]["ports"].pop("fabric0"),
        ("fabric0", "pci-0000:5e:00.0", "node0"),
    ),
    "a port by another address": Case(
        "ws-01",
        "ports are there",
        F,
        link("lan0", address="a0:36:9f:00:00:21"),
        ("a0:36:9f:00:00:20", "a0:36:9f:00:00:21"),
    ),
    "a link that is down": Case(
        "gpu-01",
        "ports have their speed",
        F,
        put("network", "ports", "node1", to={"path": "pci-0000:41:00.1", "speed": "-1", "carrier": "0"}),
        ("no link at node1",),
        "cable",
    ),
    "a port that an installer left off": Case(
        "gpu-01",
        "ports have their speed",
        C,
        put("network", "ports", "node1", to={"path": "pci-0000:41:00.1", "speed": "", "carrier": ""}),
        ("node1", "switched off"),
        "provisioning",
    ),
    "a slow link": Case(
        "gpu-01",
        "ports have their speed",
        F,
        put("network", "ports", "fabric0", "speed", to="25000"),
        ("25 Gb/s", "100"),
    ),
    "a faster link": Case(
        "ws-01",
        "ports have their speed",
        W,
        put("network", "ports", "lan0", "speed", to="100000"),
        ("100 Gb/s", "25"),
    ),
    "a port that is not jumbo yet": Case(
        "gpu-01", "ports have their mtu", C, link("node0", mtu=1500), ("1500", "node0", "9000")
    ),
    "a bond that is smaller than its ports": Case(
        "gpu-01", "ports have their mtu", C, link("bond0", mtu=1500), ("MTU 1500 at bond0", "nodes has 9000")
    ),
    "an address that is translated": Case(
        "ws-01",
        "address is the sites",
        F,
        swap("network", "addresses", "out", old="192.168.40.20", new="172.16.0.20"),
        ("192.168.40.20",),
    ),
    "no default route": Case(
        "gpu-01", "default route exists", F, put("network", "default_routes", "out", to="[]\n"), ("default route",)
    ),
    "a peer that does not answer": Case(
        "gpu-01",
        "peers answer",
        F,
        silent("control-01", "nodes", 84, "5 packets transmitted, 0 received\n"),
        ("control-01", "10.30.0.41"),
    ),
    "the storage network is not up yet": Case(
        "gpu-01",
        "peers answer",
        C,
        silent("gpu-02", "storage", 84, "5 packets transmitted, 0 received\n"),
        ("gpu-02", "storage"),
    ),
    "a router takes less": Case(
        "gpu-01",
        "full packets pass",
        F,
        silent("control-01", "nodes", 9000, ROUTER_LIMIT),
        ("10.30.0.1 takes 1500",),
    ),
    "the host's own port is the smaller one": Case(
        "gpu-01",
        "ports have their mtu",
        C,
        both(link("node0", mtu=1500), silent("control-01", "nodes", 9000, OWN_LIMIT)),
        ("MTU 1500",),
    ),
    "a router between": Case(
        "agents-01",
        "no router stands between",
        F,
        lambda answers: [
            ping.update(out=ping["out"].replace("ttl=64", "ttl=63"))
            for ping in answers["paths"]["pings"]
            if ping["name"] == "gpu-01"
        ],
        ("gpu-01", "1 router"),
    ),
    "agents are far away": Case("agents-01", "agents are near", F, slow("gpu-01", "1.84"), ("1.84 ms", "1 ms")),
    "a firewall between": Case(
        "gpu-01",
        "no firewall stands between",
        F,
        lambda answers: [
            door.update(answer="silent") for door in answers["paths"]["doors"] if door["name"] == "control-01"
        ],
        ("control-01", "6443", "silent"),
        "firewalld",
    ),
}
