"""A machine for the role k3s without a guest: this one, in namespaces of its own, with systemd played.

Its /etc, /var/lib, /var/backups and /usr/local/bin are copies in memory; one port has the site's address.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import kept_python

from rackwright.guests.ansible import read

ROOT = Path(__file__).resolve().parents[2]
BEGIN = """\
set -e
for folder in /etc /usr/local/bin; do
    cp -a "$folder" "$1/copy"; mount -t tmpfs none "$folder"; cp -a "$1/copy/." "$folder/"; rm -rf "$1/copy"
done
for folder in /var/lib /var/backups; do mount -t tmpfs none "$folder"; done
mount -t sysfs none /sys
mkdir -p /etc/systemd/system /etc/sysctl.d
cp "$2" /usr/local/bin/systemctl; ln -s systemctl /usr/local/bin/journalctl
ip link set lo up
ip tuntap add dev lan0 mode tap
ip address add 192.168.40.20/24 dev lan0
ip link set lan0 up
ip route add default via 192.168.40.1
echo ready
exec sleep infinity
"""
SPACES = ("--mount", "--net", "--uts", "--pid")


def reason_against():
    """Why it cannot be had here; empty where it can."""
    if os.geteuid() != 0:
        return "namespaces with mounts want root"
    missing = [name for name in ("unshare", "nsenter", "ip", "openssl", "sysctl") if shutil.which(name) is None]
    if missing:
        return f"{', '.join(missing)} is not there"
    probe = [
        "unshare",
        *SPACES,
        "--fork",
        "sh",
        "-c",
        "mount -t tmpfs none /var/lib && ip tuntap add dev lan0 mode tap",
    ]
    tried = subprocess.run(probe, capture_output=True, text=True, check=False)
    return tried.stderr.strip() if tried.returncode else ""


class Machine:
    """Begun at once; `end` takes all of it away."""

    def __init__(self, folder, site, variables):
        self.folder, self.site, self.variables = folder, site, variables
        played = Path(__file__).with_name("played_systemd.py")
        command = ["unshare", *SPACES, "--fork", "--kill-child", "sh", "-c", BEGIN, "machine", str(folder), str(played)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        self.inside = ["nsenter", f"--target={children[0]}", *SPACES]

    def run(self, *command):
        environment = os.environ | {"PLAYED_SYSTEMD": str(self.folder)}
        words = [*self.inside, *map(str, command)]
        return subprocess.run(words, env=environment, capture_output=True, text=True, check=False)

    def says(self, command):
        done = self.run("sh", "-c", command)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def play(self, playbook, *options, **variables):
        given = {
            "ansible_connection": "local",
            "ansible_become": False,
            "ansible_python_interpreter": sys.executable,
            **self.variables,
            **variables,
        }
        program = Path(sys.executable).with_name("ansible-playbook")
        command = [
            *self.inside,
            "env",
            f"--chdir={ROOT}",
            program,
            "-i",
            self.site,
            playbook,
            "-e",
            json.dumps(given),
            *options,
        ]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
        environment |= {
            "ANSIBLE_HOME": str(self.folder / "ansible"),
            **kept_python.settings(),
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_ROLES_PATH": str(ROOT / "playbooks/roles"),  # for a playbook of a test's own
            "ANSIBLE_FILTER_PLUGINS": str(ROOT / "playbooks/filter_plugins"),
            "PATH": f"/usr/local/bin:{os.environ['PATH']}",
            "PLAYED_SYSTEMD": str(self.folder),
        }
        done = subprocess.run(
            list(map(str, command)), cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        return read(done.returncode, done.stdout + done.stderr)

    def end(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
