"""What every guest's system is made of: a Debian 13 as its installer leaves it, in a hurry to come up."""

from pathlib import Path

RELEASE = "trixie"
LABEL = "system"  # the root file system is found by this, wherever its drive is
SIZE = "24G"  # sparse
SEED = "seed.tar"  # in the initial RAM disk: what is a guest's own
SEEDED = "var/lib/guest-is-seeded"

# Emulated guests are ten times slower than the machine that makes the image, so what the roles install is here already.
PACKAGES = (
    "systemd-sysv", "systemd-resolved", "dbus", "udev", "openssh-server", "sudo", "python3", "python3-apt", "iproute2",
    "iputils-ping", "kmod", "ethtool", "xfsprogs", "lvm2", "mdadm", "nvme-cli", "parted", "gdisk", "pciutils",
    "chrony", "procps", "util-linux-extra", "linux-image-amd64", "initramfs-tools", "busybox", "ca-certificates",
    "curl", "gnupg", "socat", "iptables", "nftables", "ipset", "conntrack", "ebtables", "netbase", "apt-utils",
    "unattended-upgrades", "fio", "logrotate", "irqbalance",
)  # fmt: skip

# Nothing here is for the roles to see; it is what nobody waits for in a machine that lives for an hour.
MASKED = (
    "apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer", "e2scrub_reap.service",
    "man-db.timer", "getty@tty1.service", "systemd-pstore.service",
    "systemd-binfmt.service", "nvmf-autoconnect.service", "modprobe@configfs.service", "modprobe@drm.service",
    "modprobe@fuse.service", "sys-fs-fuse-connections.mount", "sys-kernel-config.mount", "sys-kernel-debug.mount",
    "sys-kernel-tracing.mount", "systemd-network-generator.service", "systemd-networkd-persistent-storage.service",
    "systemd-udev-load-credentials.service",
)  # fmt: skip
# Programs that systemd asks for more units at every start and reload, and that have none to say of such a machine.
SILENT = ("debug", "getty", "gpt-auto", "hibernate-resume", "rc-local", "run", "ssh", "system-update", "tpm2")
# A role may want these; they are only off, as another installer would leave them.
DISABLED = ("chrony.service", "irqbalance.service", "unattended-upgrades.service", "mdmonitor.service")
ENABLED = ("systemd-networkd.service", "systemd-resolved.service", "ssh.service")

# Before the system starts: what is this guest's own is laid over the root file system, once in its life.
SOW = f"""#!/bin/sh
[ "$1" != prereqs ] || exit 0
[ -e /{SEED} ] && [ ! -e "$rootmnt/{SEEDED}" ] || exit 0
chroot "$rootmnt" tar -x -C / </{SEED}
: > "$rootmnt/{SEEDED}"
"""

# The root's label is all that is to be found out there: that takes no udev, but a blkid that looks for one label.
FIND = """#!/bin/sh
[ "$1" != prereqs ] || exit 0
. /usr/share/initramfs-tools/hook-functions
rm -f "$DESTDIR/usr/sbin/blkid"
copy_exec /usr/sbin/blkid
"""

# What an initial RAM disk does without whose root is a plain file system on a whole drive.
HOOKS_OFF = ("dmsetup", "fsck", "keymap", "lvm2", "mdadm", "resume", "thermal", "udev", "xfs")
# And one that is never booted: QEMU gives every guest the image's, and making one takes an emulated processor a minute.
HOOKS_OFF_IN_GUESTS = ("klibc-utils", "zz-busybox")

FILES = {
    **{f"etc/systemd/system-generators/systemd-{name}-generator": "" for name in SILENT},
    "etc/fstab": f"LABEL={LABEL} / ext4 defaults 0 1\n",
    "etc/hostname": "fresh\n",
    "etc/apt/sources.list": "",  # a guest reaches nothing outside
    "etc/initramfs-tools/conf.d/small": "MODULES=list\nCOMPRESS=gzip\nCOMPRESSLEVEL=1\n",
    "etc/initramfs-tools/modules": "virtio_pci\nvirtio_blk\nnvme\next4\n",
    "etc/initramfs-tools/hooks/find": FIND,
    "etc/initramfs-tools/scripts/init-bottom/seed": SOW,
    "usr/lib/python3/dist-packages/kept_code.py": Path(__file__).with_name("kept_code.py").read_text(),
    "usr/lib/python3/dist-packages/kept_code.pth": "import kept_code; kept_code.install()\n",
    "etc/ssh/sshd_config.d/guest.conf": "PermitRootLogin prohibit-password\nPasswordAuthentication no\nUseDNS no\n",
}
# Newer than /usr: nothing has to be brought up to date at the first start.
STAMPS = ("etc/.updated", "var/.updated")
EXECUTABLE = ("etc/initramfs-tools/hooks/find", "etc/initramfs-tools/scripts/init-bottom/seed")
EMPTIED = (
    "etc/ssh/ssh_host_*",
    "var/lib/apt/lists/*",
    "var/cache/apt/*.bin",
    "var/cache/apt/archives/*.deb",
    "boot/*.old",
)
