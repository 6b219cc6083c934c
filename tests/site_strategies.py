"""Hypothesis strategies: documents of sites that must pass, and changes that spoil one."""

from copy import deepcopy

from hypothesis import strategies as st

from rackwright.site.hosts import Gpus
from rackwright.site.known.gpu_products import gpu_products
from rackwright.site.models import Model
from rackwright.site.moving import moving
from rackwright.site.splitting import legal_tensor_parallel, longest_context

SHAPES = (
    "meta-llama/Llama-3.1-8B",
    "Qwen/Qwen3-14B",
    "Qwen/Qwen3-32B",
    "meta-llama/Llama-3.1-70B",
    "openai/gpt-oss-20b",
)
PURPOSES = ("models", "vectors", "database", "scratch")
NASTY = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**30), 10**30), st.floats(), st.text(max_size=30),
    st.sampled_from(["", "~", "x" * 500, "no", "10.0.0.11", "10.0.0.0/8", "nvme-scratch", "1g.10gb", "\U0001f4a5"]),
    st.lists(st.integers(), max_size=3), st.dictionaries(st.text(max_size=8), st.integers(), max_size=3),
    st.sampled_from([[[]], {"": {}}, [None], [{}], {"name": "x"}, [{"name": "x"}, "y", None]]),
)  # fmt: skip


@st.composite
def gpus(draw):
    """GPUs of one host, whole."""
    product = draw(st.sampled_from(sorted(gpu_products().values(), key=lambda each: each.name)))
    link = draw(st.sampled_from(product.links))
    count = draw(st.sampled_from([1, 2, 4, 8]))
    return {
        "product": product.name,
        "count": count,
        "memory_gb": draw(st.sampled_from(product.memory_gb)),
        "link": link,
    }


@st.composite
def models(draw, gpu, phases):
    """One model that fits on these GPUs, once in each phase; None where none does."""
    shape = draw(st.sampled_from(SHAPES))
    precision = "mxfp4" if "gpt-oss" in shape else draw(st.sampled_from(["bfloat16", "fp8", "int4"]))
    context = 2 ** draw(st.integers(8, 15))
    wanted = {
        "name": draw(st.from_regex(r"m[a-z0-9-]{0,20}[a-z0-9]", fullmatch=True)),
        "source": draw(st.sampled_from([{"local": "weights"}, {"nfs": "nas.internal:/weights"}])),
        "architecture": shape,
        "precision": precision,
        "kv_precision": draw(st.sampled_from(["auto", "fp8"])),
        "context_length": context,
        "sequences": draw(st.integers(1, 64)),
        **{f"phase{phase}": {"replicas": 1} for phase in phases},
    }
    for count in legal_tensor_parallel(Model(**wanted).shape):
        model = wanted | {"tensor_parallel": count}
        if count <= gpu["count"] and longest_context(Model(**model), Gpus(**gpu)) >= context:
            return model
    return None


@st.composite
def hosts(draw, gpu, phases):
    """The servers: one in phase 1, three in phase 2, over ports of one kind."""
    count = 3 if 2 in phases else 1
    way = draw(st.sampled_from(["mac", "bond", "vlan"]))
    found = []
    for number in range(count):
        mac = f"02:00:00:00:{number:02x}"
        nics = [{"name": "port0", "mac": f"{mac}:00", "speed_gbps": 25}]
        host = {
            "name": f"host-{number}",
            "address": f"10.0.0.{11 + number}",
            "phases": [phase for phase in phases if phase == 2 or number == 0],
            "roles": ["inference", "control"] if 2 in phases else ["inference"],
            "cores": draw(st.integers(64, 512)),
            "memory_gib": draw(st.integers(512, 4096)),
            "gpus": gpu,
            "nics": nics,
            "disks": [
                {"path": f"/dev/disk/by-id/nvme-M_S{number}{index}", "size_gb": 8000, "purpose": purpose}
                for index, purpose in enumerate(PURPOSES)
            ],
        }
        if way == "mac":
            nics[0]["network"] = "nodes"
        elif way == "bond":
            nics.append({"name": "port1", "path": "pci-0000:41:00.1", "speed_gbps": 25})
            host["bonds"] = [{"name": "bond0", "nics": ["port0", "port1"], "network": "nodes"}]
        else:
            host["vlans"] = [{"id": draw(st.integers(1, 4094)), "over": "port0", "network": "nodes"}]
        found.append(host)
    return found


@st.composite
def sites(draw):
    """The document of a site that must pass."""
    phases = draw(st.sampled_from([[1], [2], [1, 2]]))
    gpu = draw(gpus())
    flavours = gpu_products()[gpu["product"]].flavours
    model = draw(models(gpu, phases).filter(bool))
    first = {"api": "10.0.0.11", "kubeconfig": "~/.kube/first"}
    second = {"api": "10.0.0.5", "kubeconfig": "~/.kube/second", "pods": "10.44.0.0/16", "services": "10.45.0.0/16"}
    document = {
        "name": draw(st.from_regex(r"[a-z][a-z0-9-]{0,20}[a-z0-9]", fullmatch=True)),
        "operating_system": {"name": "ubuntu", "release": draw(st.sampled_from(["22.04", "24.04"]))},
        "networks": {
            "nodes": {"cidr": "10.0.0.0/24", "mtu": draw(st.integers(1280, 9216))},
            "time_servers": ["10.0.0.1"],
        },
        "hosts": draw(hosts(gpu, phases)),
        "gpu": {
            "driver_branch": draw(st.sampled_from([580, 595, 610])),
            "driver_flavour": draw(st.sampled_from(flavours)),
        },
        "clusters": {f"phase{phase}": first if phase == 1 else second for phase in phases},
        "models": [model],
        "vectors": {"size_gb": draw(st.integers(1, 3000)), "memory_gib": draw(st.integers(1, 128))},
        "postgresql": {
            "size_gb": draw(st.integers(1, 5000)),
            "wal_size_gb": 100,
            "memory_gib": draw(st.integers(4, 128)),
        },
        "gateway": {
            "host": "llm.site.internal",
            "request_limit_mib": draw(st.integers(1, 1024)),
            **({"address": "10.0.0.6"} if 2 in phases else {}),
        },
        "tenants": [{"name": "team", "key": "tenant_team_key", "priority": draw(st.sampled_from(["agents", "batch"]))}],
        "workload": {
            "users": draw(st.integers(1, 1000)),
            "actions_per_hour": draw(st.floats(0.01, 1000, allow_nan=False)),
            "prompt_tokens": draw(st.integers(1, 200)),
            "output_tokens": draw(st.integers(1, 56)),
        },
    }
    return divided(document) if 2 in phases and draw(st.booleans()) else document


def divided(document):
    """The same with its model's prompts computed apart over ports of 400 Gb/s, where that does not lose."""
    (model,) = (Model(**each) for each in document["models"])
    longest = model.context_length - 64
    move = moving(model, longest, [Gpus(**document["hosts"][0]["gpus"])], 400)
    if document["gpu"]["driver_flavour"] != "open" or (move.least_tokens or longest + 1) > longest:
        return document
    changed = deepcopy(document)
    changed["models"][0]["phase2"] = {"replicas": 3, "disaggregation": {"prefill": 1, "decode": 2}}
    changed["workload"]["prompt_tokens"] = longest
    changed["networks"]["storage"] = {"cidr": "10.0.1.0/24"}
    for number, host in enumerate(changed["hosts"]):
        host["storage_address"] = f"10.0.1.{11 + number}"
        port = {"name": "fabric0", "path": "pci-0000:5e:00.0", "speed_gbps": 400, "network": "storage"}
        host["nics"] = [*host["nics"], port]
    return changed


def places(data, place=()):
    """Every place in a document."""
    found = [place] if place else []
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in pairs:
        found += places(value, (*place, key))
    return found


@st.composite
def spoilt(draw, document):
    """A document after one to three changes: a value replaced, left out, repeated, added, or moved elsewhere."""
    data = deepcopy(document)
    for _ in range(draw(st.integers(1, 3))):
        known = places(data)
        if not known:
            break
        place = draw(st.sampled_from(known))
        parent = data
        for step in place[:-1]:
            parent = parent[step]
        change = draw(st.sampled_from(["replace", "remove", "repeat", "add", "swap"]))
        if change == "replace":
            parent[place[-1]] = deepcopy(draw(NASTY))
        elif change == "remove":
            parent.pop(place[-1])
        elif change == "repeat" and isinstance(parent, list):
            parent.append(deepcopy(parent[place[-1]]))
        elif change == "add" and isinstance(parent, dict):
            parent[draw(st.sampled_from(["nmae", "name", "size_gb", "<<", "phase1", ""]))] = deepcopy(draw(NASTY))
        else:
            other = draw(st.sampled_from(known))
            source = data
            for step in other:
                source = source[step] if isinstance(source, dict | list) and step in _steps(source) else None
            parent[place[-1]] = deepcopy(source)
    return data


def _steps(data):
    return data.keys() if isinstance(data, dict) else range(len(data))
