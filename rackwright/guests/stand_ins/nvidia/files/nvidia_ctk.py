#!/usr/bin/python3
"""Stand-in by Rackwright for nvidia-ctk @VERSION@: writes what the real one writes, for GPUs that are not there."""

import json
import os
import re
import sys
from pathlib import Path

VERSION = "@VERSION@"
CONFIG = "/etc/nvidia-container-runtime/config.toml"
MACHINE = Path("/etc/nvidia-stand-in/machine.json")
DEFAULTS = """#accept-nvidia-visible-devices-as-volume-mounts = false
#accept-nvidia-visible-devices-envvar-when-unprivileged = true
disable-require = false
supported-driver-capabilities = "compat32,compute,display,graphics,ngx,utility,video"

[nvidia-container-runtime]
mode = "auto"
"""


def main() -> int:
    """One of the few commands that are played."""
    words = [word for word in sys.argv[1:] if word != "--quiet"]
    if words == ["--version"]:
        print(f"NVIDIA Container Toolkit CLI version {VERSION} (stand-in)")
        return 0
    options = given(words)
    if words[:1] == ["config"]:
        return config(options)
    if words[:2] == ["runtime", "configure"]:
        return configure(options)
    if words[:2] == ["cdi", "generate"]:
        return generate(options)
    if words[:2] == ["cdi", "list"]:
        return listed()
    print(f"nvidia-ctk (stand-in) does not play {' '.join(words)}", file=sys.stderr)
    return 2


def given(words: list[str]) -> dict[str, str]:
    """Options with their values, which stand behind an equals sign or in the next word."""
    options = {}
    for word, after in zip(words, [*words[1:], ""], strict=True):
        if word.startswith("-"):
            name, equals, value = word.lstrip("-").partition("=")
            options[name] = value if equals or after.startswith("-") else after
    return options


def config(options: dict[str, str]) -> int:
    """The runtime's own settings: written where they are not, and one of them set."""
    file = Path(options.get("config-file", CONFIG))
    text = file.read_text() if file.exists() else DEFAULTS
    if "set" in options:
        key, _, value = options["set"].partition("=")
        if f"{key} =" not in DEFAULTS:
            print(f"unknown config option {key} (stand-in)", file=sys.stderr)
            return 1
        text = re.sub(rf"(?m)^#?{re.escape(key)} = .*$", f"{key} = {value}", text)
    if "in-place" in options:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    else:
        print(text, end="")
    return 0


def configure(options: dict[str, str]) -> int:
    """A drop-in for containerd, with the options of runc in the configuration that is there."""
    if options.get("runtime") != "containerd":
        print("the stand-in knows containerd alone", file=sys.stderr)
        return 1
    base = Path(options.get("config", "/etc/containerd/config.toml"))
    text = base.read_text() if base.exists() else "version = 2\n"
    version = re.search(r"(?m)^version\s*=\s*(\d+)", text)
    number = int(version[1]) if version else 2
    plugin = "io.containerd.cri.v1.runtime" if number > 2 else "io.containerd.grpc.v1.cri"
    is_default = "set-as-default" in options or "nvidia-set-as-default" in options
    default = '      default_runtime_name = "nvidia"\n' if is_default else ""
    cgroup = "            SystemdCgroup = true\n" if re.search(r"SystemdCgroup\s*=\s*true", text) else ""
    drop_in = Path(options.get("drop-in-config", "/etc/containerd/conf.d/99-nvidia.toml"))
    drop_in.parent.mkdir(parents=True, exist_ok=True)
    drop_in.write_text(
        f'version = {number}\n\n[plugins]\n\n  [plugins."{plugin}"]\n\n    [plugins."{plugin}".containerd]\n{default}\n'
        f'      [plugins."{plugin}".containerd.runtimes]\n\n        [plugins."{plugin}".containerd.runtimes.nvidia]\n'
        f'          runtime_type = "io.containerd.runc.v2"\n\n'
        f'          [plugins."{plugin}".containerd.runtimes.nvidia.options]\n'
        f'            BinaryName = "/usr/bin/nvidia-container-runtime"\n{cgroup}'
    )
    base.parent.mkdir(parents=True, exist_ok=True)
    base.write_text(re.sub(r"(?m)^\s*#.*\n", "", text))  # the real one writes it anew as well, in its own form
    return 0


def generate(options: dict[str, str]) -> int:
    """The devices, under the names that the real one gives them."""
    machine = json.loads(MACHINE.read_text()) if MACHINE.exists() else {"gpus": 0}
    path = options.get("output") or os.environ.get("NVIDIA_CTK_CDI_OUTPUT_FILE_PATH", "")
    names = [*map(str, range(machine["gpus"])), "all"]
    spec = {"cdiVersion": "0.5.0", "kind": "nvidia.com/gpu", "devices": [{"name": name} for name in names]}
    if not path:
        print(json.dumps(spec))
        return 0
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps(spec))
    return 0


def listed() -> int:
    """Names of the devices that were generated."""
    files = [file for folder in ("/etc/cdi", "/var/run/cdi") for file in Path(folder).glob("nvidia.yaml")]
    for spec in map(json.loads, (file.read_text() for file in files)):
        for device in spec["devices"]:
            print(f"{spec['kind']}={device['name']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
