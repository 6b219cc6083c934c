"""A machine out of namespaces: a file system, addresses and a name of its own, at the speed of this one."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

KUBELET = Path(__file__).with_name("pretended_kubelet.py")
# What is written below these stays in the machine; /etc begins as this machine's.
OWN = """
set -e
cp -a /etc "$1/etc.copy"
mount -t tmpfs none /etc && cp -a "$1/etc.copy/." /etc/
mount -t tmpfs none /var/lib && mount -t tmpfs none /var/log
mkdir -p /var/lib/etcd /var/lib/kubelet /etc/kubernetes/manifests /etc/kubernetes/kubelet.conf.d
hostname "$2"
touch "$1/ready"
exec sleep infinity
"""


class Machine:
    """One machine; a second one can share the first one's network."""

    def __init__(self, folder, name, *, beside=None):
        self.folder, self.name = folder, name
        folder.mkdir()
        shared = beside.inside("--net", mount=False) if beside else []
        own = ["unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child", *([] if beside else ["--net"])]
        command = [*shared, *own, "sh", "-c", OWN, "machine", str(folder), name]
        self.log = (folder / "log").open("wb")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log, start_new_session=True)
        while not (folder / "ready").exists():
            if self.process.poll() is not None:
                raise RuntimeError((folder / "log").read_text())
        self.kubelet = None

    def first(self):
        """The process that holds the namespaces."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(children[0])

    def inside(self, *namespaces, mount=True):
        chosen = namespaces or ("--mount", "--uts", "--net", "--pid")
        return ["nsenter", f"--target={self.first()}", *(each for each in chosen if mount or each != "--mount")]

    def run(self, *command, text=None, check=True, environment=None):
        done = subprocess.run(
            [*self.inside(), *map(str, command)],
            input=text,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            env={**os.environ, **(environment or {})},
        )
        assert not check or done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done

    def write(self, path, text, mode=0o600):
        script = 'mkdir -p "$(dirname "$1")" && cat >"$1" && chmod "$2" "$1"'
        self.run("sh", "-c", script, "write", path, oct(mode)[2:], text=text)

    def begin_kubelet(self, programs):
        listed = self.folder / "programs.json"
        listed.write_text(json.dumps({name: str(path) for name, path in programs.items()}))
        command = [*self.inside(), sys.executable, str(KUBELET), self.name, str(listed)]
        self.kubelet = subprocess.Popen(command, stdout=self.log, stderr=self.log)

    def end(self):
        if self.kubelet:
            self.kubelet.terminate()
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.log.close()
