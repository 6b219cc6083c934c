#!/bin/sh
# Stand-in by Rackwright for loading the module nvidia: the version that was on the disk is the one that is "loaded" till a reboot.
set -e
[ -e /run/nvidia-stand-in/loaded ] && exit 0
if [ -e /sys/module/nouveau ]; then
    echo "modprobe: ERROR: could not insert 'nvidia': No such device (nouveau holds the GPUs; stand-in)" >&2
    exit 1
fi
version=$(modinfo -F version nvidia)
mkdir -p /run/nvidia-stand-in
echo "$version" >/run/nvidia-stand-in/loaded
