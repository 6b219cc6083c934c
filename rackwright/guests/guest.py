"""One booted guest: started, waited for, cut off its power, started again with the drives that it has."""

from __future__ import annotations

import shlex
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rackwright.errors import Refusal
from rackwright.guests import hardware, seed, system
from rackwright.guests.hardware import Size
from rackwright.guests.image import Image
from rackwright.guests.keys import USER, KeyRing, close_connections
from rackwright.guests.namespace import Namespace
from rackwright.guests.needs import path_of
from rackwright.sandbox.locks import Progress, silence
from rackwright.site.hosts import Host
from rackwright.site.site import Site

SECONDS_TO_BOOT = 900  # forty where nothing else runs
SECONDS_BETWEEN_WORDS = 20.0
SECONDS_BETWEEN_LOOKS = 0.5
TRACES = ("Kernel panic", "emergency mode", "Give root password", "(initramfs)")
# A system that is emulated on a busy machine takes its time to start a service, and is not to give up.
WORDS = "loglevel=4 systemd.show_status=auto"  # what is said here explains a start that fails
PATIENCE = "systemd.default_timeout_start_sec=900 systemd.default_device_timeout_sec=900"
# Each module that is loaded has its signature reckoned first, and nobody needs these.
UNUSED = "cfg80211,evdev,i2c_i801,iTCO_vendor_support,iTCO_wdt,lpc_ich,pcspkr,psmouse,serio_raw"
HASTE = f"mitigations=off lsm=apparmor module_blacklist={UNUSED}"
COMMAND_LINE = f"root=LABEL={system.LABEL} rw console=ttyS0 {HASTE} {WORDS} {PATIENCE}"


@dataclass(frozen=True)
class Ground:
    """What a guest stands on: the site, its image, the namespace with the switch, and the keys."""

    site: Site
    image: Image
    namespace: Namespace
    keys: KeyRing
    sockets: Mapping[str, int]
    accelerator: str
    progress: Progress = silence


class Guest:
    """A host of the site as a machine that runs."""

    def __init__(self, ground: Ground, host: Host, size: Size, folder: Path) -> None:
        self.host = host
        self.size = size
        self.folder = folder
        self.console = folder / "console"
        self._ground = ground
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def name(self) -> str:
        """The host's name."""
        return self.host.name

    @property
    def is_on(self) -> bool:
        """Whether it has power."""
        return self._process is not None and self._process.poll() is None

    def make(self, keys: seed.Keys) -> None:
        """Its drives, empty, and its system, fresh."""
        self.folder.mkdir(mode=0o700)
        image = self._ground.image
        own = seed.files(self._ground.site, self.host, keys, str(self.folder))
        (self.folder / "initrd").write_bytes(seed.appended(image.initrd.read_bytes(), own))
        _disk(self._system, "-b", str(image.drive), "-F", "raw")
        for drive in hardware.drives(self.host):
            if not drive.holds_system:
                _disk(self.folder / drive.file, size=drive.gigabytes * 10**9 // 512 * 512)

    def start(self) -> None:
        """Give it power; it is not up yet."""
        ground = self._ground
        command = [
            path_of("qemu-system-x86_64"),
            *hardware.arguments(
                ground.site.name, self.host, self.size, ground.sockets, self.folder, self._system, ground.accelerator
            ),
            "-serial", f"file:{self.console}",
            "-kernel", str(ground.image.kernel), "-initrd", str(self.folder / "initrd"), "-append", COMMAND_LINE,
        ]  # fmt: skip
        self._process = ground.namespace.begin(command, self.folder / "qemu.log")

    def wait(self) -> None:
        """Wait until it lets us in; Refusal with its console's last words where it never does."""
        began, said = time.monotonic(), 0.0
        while not self.answers():
            passed = time.monotonic() - began
            console = self.console.read_text(errors="replace") if self.console.exists() else ""
            if not self.is_on or passed > SECONDS_TO_BOOT or any(trace in console for trace in TRACES):
                raise self._explain(console)
            if passed - said > SECONDS_BETWEEN_WORDS:
                said = passed
                self._ground.progress(f"{self.name} has been booting for {passed:.0f} s.")
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def answers(self) -> bool:
        """Whether SSH lets us in and the system has started."""
        return self.ssh("true", check=False, quiet=True).returncode == 0

    def ssh(
        self, command: str, *, check: bool = True, quiet: bool = False, text: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a shell's command inside, with `text` as its input; CalledProcessError where it fails and is not to.

        It goes over a connection that is kept; a `quiet` one is a try, of a guest that may not be there, over its own.
        """
        options = ["-o", "ConnectTimeout=45", "-q"] if quiet else self._ground.keys.kept(self.host)
        words = self.shell(*options)
        done = self._ground.namespace.run([*words, command], text=text)
        if check and done.returncode:
            raise subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
        return done

    def shell(self, *options: str) -> list[str]:
        """The words that open a shell in it, inside the namespace; SSH takes the first of two equal options."""
        return [path_of("ssh"), *options, *self._ground.keys.options(), f"{USER}@{self.host.address}"]

    def says(self, command: str) -> str:
        """What a command prints, without the last line's end."""
        return self.ssh(command).stdout.strip()

    def put(self, source: Path, place: str) -> None:
        """Copy a file, or what is in a folder, to a place inside; it is root's there, and readable for all."""
        folder, name = (source, ".") if source.is_dir() else (source.parent, source.name)
        target = shlex.quote(place if source.is_dir() else str(Path(place).parent))
        renamed = "" if source.is_dir() else f" --transform={shlex.quote(f's,.*,{Path(place).name},')}"
        packed = ["tar", "--create", f"--directory={folder}", "--owner=root:0", "--group=root:0", "--mode=a+rX", name]
        unpacked = [*self.shell(), f"mkdir -p {target} && tar --extract --directory={target}{renamed}"]
        with subprocess.Popen(packed, stdout=subprocess.PIPE) as packing:
            self._ground.namespace.run(unpacked, source=packing.stdout).check_returncode()

    def reboot(self) -> None:
        """Let it restart itself, and wait for another boot than this one."""
        before = self.boot()
        self.ssh("systemctl reboot", check=False)
        self._forget_connection()
        self._wait_for_another(before)

    def boot(self) -> str:
        """What tells one boot from another."""
        return self.says("cat /proc/sys/kernel/random/boot_id")

    def power_cut(self) -> None:
        """Take its power away at once; what it had not flushed to its drives is lost."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        self._forget_connection()

    def power_on(self) -> None:
        """Start it again after a power cut, and wait for it."""
        self.start()
        self.wait()

    def _forget_connection(self) -> None:
        close_connections(self._ground.keys.folder, str(self.host.address))

    @property
    def _system(self) -> Path:
        return self.folder / "system.qcow2"

    def _wait_for_another(self, before: str) -> None:
        deadline = time.monotonic() + SECONDS_TO_BOOT
        while time.monotonic() < deadline and self.is_on:
            seen = self.ssh("cat /proc/sys/kernel/random/boot_id", check=False, quiet=True)
            if seen.returncode == 0 and seen.stdout.strip() != before:
                return
            time.sleep(SECONDS_BETWEEN_LOOKS)
        raise self._explain(self.console.read_text(errors="replace"))

    def _explain(self, console: str) -> Refusal:
        log = (self.folder / "qemu.log").read_text(errors="replace").strip().splitlines()
        lines = [line.strip() for line in console.splitlines() if line.strip()]
        if not self.is_on and log:
            return Refusal(f"{self.name} did not start: {log[-1]}", "If memory or disk are short, make room for it.")
        last = "\n".join(lines[-15:]) or "nothing"
        return Refusal(
            f"{self.name} did not come up. Its console's last words:\n{last}",
            f"A machine under load boots slowly: run this again; the console is {self.console}.",
        )


def _disk(file: Path, *options: str, size: int | None = None) -> None:
    command: Sequence[str] = [path_of("qemu-img"), "create", "-q", "-f", "qcow2", *options, str(file)]
    made = subprocess.run([*command, *([str(size)] if size else [])], capture_output=True, text=True, check=False)
    if made.returncode:
        raise Refusal(f"A drive cannot be made: {made.stderr.strip()[:300]}", "Free some space, or set XDG_CACHE_HOME.")
