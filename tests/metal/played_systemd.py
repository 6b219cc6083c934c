#!/usr/bin/env python3
"""systemctl and journalctl, as far as the role k3s uses them: units start, tell that they are ready, and stop."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

UNITS = Path("/etc/systemd/system")
STATE = Path(os.environ.get("PLAYED_SYSTEMD", "/var/lib")) / "played-systemd"


def main():
    STATE.mkdir(exist_ok=True)
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    if Path(sys.argv[0]).name == "journalctl":
        say(log(words[0]).read_text())
        return 0
    verb, unit = words[0], words[1] if len(words) > 1 else ""
    acts = {
        "show": show, "is-enabled": is_enabled, "is-active": is_active, "enable": enable, "disable": disable,
        "start": start, "stop": stop, "restart": restart, "daemon-reload": lambda _: 0,
    }  # fmt: skip
    return acts[verb](unit)


def say(text):
    sys.stdout.write(f"{text}\n")


def log(unit):
    return STATE / f"{unit}.log"


def alive(unit):
    file = STATE / f"{unit}.json"
    known = json.loads(file.read_text()) if file.exists() else None
    return known if known and Path(f"/proc/{known['pid']}").exists() else None


def show(unit):
    known = alive(unit)
    say(f"Id={unit}\nLoadState={'loaded' if (UNITS / unit).exists() else 'not-found'}")
    there = (STATE / f"{unit}.enabled").exists()
    say(f"ActiveState={'active' if known else 'inactive'}\nUnitFileState={'enabled' if there else 'disabled'}")
    say(f"ExecMainStartTimestampMonotonic={known['began'] if known else 0}")
    return 0


def is_active(unit):
    say("active" if alive(unit) else "inactive")
    return 0 if alive(unit) else 3


def is_enabled(unit):
    there = (STATE / f"{unit}.enabled").exists()
    say("enabled" if there else "disabled")
    return 0 if there else 1


def enable(unit):
    (STATE / f"{unit}.enabled").write_text("")
    return 0


def disable(unit):
    (STATE / f"{unit}.enabled").unlink(missing_ok=True)
    return 0


def start(unit):
    if alive(unit):
        return 0
    command = re.search(r"^ExecStart=(.+)$", (UNITS / unit).read_text(), re.MULTILINE)[1].split()
    door = STATE / "notify"
    door.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify, log(unit).open("w") as words:
        notify.bind(str(door))
        notify.settimeout(1)
        began = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        process = subprocess.Popen(
            command, stdout=words, stderr=words, env={**os.environ, "NOTIFY_SOCKET": str(door)}, start_new_session=True
        )
        while process.poll() is None:
            try:
                notify.recv(100)
            except TimeoutError:
                continue
            (STATE / f"{unit}.json").write_text(json.dumps({"pid": own_pid(process.pid), "began": began}))
            return 0
    sys.stderr.write(f"Job for {unit} failed because the control process exited with error code.\n")
    return 1


def own_pid(pid):
    """The number of a process where /proc shows those of the machine around the namespace."""
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            numbers = re.search(r"^NSpid:\s+(.+)$", status.read_text(), re.MULTILINE)
        except OSError:
            continue
        if numbers and numbers[1].split()[-1] == str(pid) and same_space(status.parent):
            return int(status.parent.name)
    return pid


def same_space(process):
    try:
        return (process / "ns/pid").readlink() == Path("/proc/self/ns/pid").readlink()
    except OSError:
        return False


def stop(unit):
    known = alive(unit)
    if known:
        numbers = re.search(r"^NSpid:\s+(.+)$", Path(f"/proc/{known['pid']}/status").read_text(), re.MULTILINE)
        os.kill(int(numbers[1].split()[-1]), signal.SIGTERM)
        while alive(unit) and "Z" not in Path(f"/proc/{known['pid']}/status").read_text().split("State:")[1][:4]:
            time.sleep(0.05)
    (STATE / f"{unit}.json").unlink(missing_ok=True)
    return 0


def restart(unit):
    stop(unit)
    return start(unit)


if __name__ == "__main__":
    sys.exit(main())
