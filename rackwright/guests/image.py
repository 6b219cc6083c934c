"""The drive that every guest starts from, made once by debootstrap and kept in the user's cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rackwright.errors import Refusal
from rackwright.guests import needs, system
from rackwright.sandbox import processes
from rackwright.sandbox.locks import Progress, silence
from rackwright.sandbox.tools import cache

NAME = "debian-13"
MONTH = 30 * 24 * 3600.0  # seconds
GIGABYTES = 5.0  # while it is made; half of it stays
STEPS_OF = 3  # raised where the steps below change what comes out


@dataclass(frozen=True)
class Image:
    """What a guest boots: a kernel, an initial RAM disk and a drive that is never written."""

    folder: Path

    @property
    def drive(self) -> Path:
        """The root file system, raw and without partitions."""
        return self.folder / "bin" / "root.raw"

    @property
    def kernel(self) -> Path:
        """The kernel that is in the root file system too."""
        return self.folder / "bin" / "vmlinuz"

    @property
    def initrd(self) -> Path:
        """The initial RAM disk, to which a guest's seed is appended."""
        return self.folder / "bin" / "initrd"


def key() -> str:
    """What the image is made from, as a hash; a Debian that moved on does not change it."""
    recipe = (
        STEPS_OF, system.RELEASE, system.LABEL, system.SIZE, system.PACKAGES, system.MASKED, system.DISABLED,
        system.ENABLED, system.STAMPS, sorted(system.FILES.items()), system.EXECUTABLE, system.EMPTIED,
        system.HOOKS_OFF, system.HOOKS_OFF_IN_GUESTS,
    )  # fmt: skip
    return hashlib.sha256(repr(recipe).encode()).hexdigest()[:16]


def home() -> Path:
    """The image's folder, whether or not it exists yet."""
    return cache.cache_folder() / "guests" / f"{NAME}-{key()}"


def is_made() -> bool:
    """Whether the image is there and whole."""
    return cache.is_whole(home())


def ensure(progress: Progress = silence) -> Image:
    """The image, made if need be; Refusal where it cannot be made here."""
    folder = home()
    if not is_made():
        needs.demand_to_make_the_image()
        with cache.made_once(folder, "the guests' image", progress) as work:
            if work:
                cache.need_room([work], GIGABYTES, "Making the guests' image")
                progress("Making the guests' image, a Debian 13: about 2 min, once.")
                began = time.monotonic()
                _make(work, progress)
                cache.seal(work, {"release": system.RELEASE, "seconds": round(time.monotonic() - began)})
                _hand_over(cache.cache_folder(), folder.parent)
        forget_others(folder)
    with suppress(PermissionError):  # root made it, and whoever uses it now is not root
        os.utime(folder)
    return Image(folder)


def forget_others(folder: Path, now: float | None = None) -> None:
    """Remove images beside this one that nobody has used for a month; a rack that is kept is not that old."""
    oldest = (time.time() if now is None else now) - MONTH
    for other in folder.parent.glob(f"{NAME}-*"):
        if other != folder and other.stat().st_mtime < oldest:
            shutil.rmtree(other)


def _make(work: Path, progress: Progress) -> None:
    root, made = work / "tmp" / "root", work / "bin"
    run = Steps(work)
    progress("Fetching and unpacking Debian's packages.")
    included = f"--include={','.join(system.PACKAGES)}"
    run("debootstrap", "--variant=minbase", f"--keyring={needs.KEYRING}", included, system.RELEASE, str(root))
    progress("Setting up the system.")
    _furnish(root)
    for verb, units in (("disable", system.DISABLED), ("enable", system.ENABLED), ("mask", system.MASKED)):
        run("chroot", str(root), "systemctl", "--quiet", verb, *units)
    _turn_off(root, system.HOOKS_OFF)
    run("chroot", str(root), "update-initramfs", "-u")
    _turn_off(root, system.HOOKS_OFF_IN_GUESTS)
    _empty(root)
    for name in ("vmlinuz", "initrd.img"):
        shutil.copy(next((root / "boot").glob(f"{name}-*")), made / name.removesuffix(".img"))
    progress("Writing the drive.")
    run("mkfs.ext4", "-q", "-L", system.LABEL, "-d", str(root), str(made / "root.raw"), system.SIZE)
    for file in made.iterdir():
        file.chmod(0o644)


def _hand_over(*folders: Path) -> None:
    """Give the cache's folders to whom sudo ran this for, who goes on without root."""
    if user := os.environ.get("SUDO_UID"):
        for folder in folders:
            os.chown(folder, int(user), int(os.environ.get("SUDO_GID", "-1")))


def _furnish(root: Path) -> None:
    for name, text in system.FILES.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755 if name in system.EXECUTABLE else 0o644)


def _turn_off(root: Path, hooks: Sequence[str]) -> None:
    """initramfs-tools runs what may be executed."""
    for hook in hooks:
        (root / "usr/share/initramfs-tools/hooks" / hook).chmod(0o644)


def _empty(root: Path) -> None:
    """Take out what is a machine's own, and what only the making needed."""
    for pattern in system.EMPTIED:
        for path in root.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    (root / "etc" / "machine-id").write_text("")
    for name in system.STAMPS:
        (root / name).touch()


class Steps:
    """Programs run one after the other; what they say is shown where one fails."""

    def __init__(self, work: Path) -> None:
        self.log = work / "tmp" / "log"
        self.environment = {
            **os.environ,
            **processes.marked(work),
            "PATH": os.pathsep.join((os.environ.get("PATH", os.defpath), *needs.SYSTEM_FOLDERS)),
            "LC_ALL": "C",
            "DEBIAN_FRONTEND": "noninteractive",
            "TMPDIR": "/tmp",  # noqa: S108 - the one that exists on either side of a chroot
        }

    def __call__(self, *command: str) -> None:
        """Run one; Refusal with its last words where it fails."""
        with self.log.open("a") as output:
            code = subprocess.run(
                command, env=self.environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False,
                start_new_session=True,  # Ctrl-C is for us: what was started is ended by its folder
            ).returncode  # fmt: skip
        if code:
            saved = cache.cache_folder() / "logs" / "guests-image.log"
            saved.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.log, saved)
            said = [line for line in self.log.read_text(errors="replace").splitlines() if line.strip()]
            last = said[-1] if said else "it said nothing"
            raise Refusal(
                f"Making the guests' image failed at {Path(command[0]).name}: {last[:300]}",
                f"Mend that (network, disk) and run the same again; the whole log is {saved}.",
            )
