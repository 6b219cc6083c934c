#!/bin/sh
# Stand-in by Rackwright for dkms: asks for what dkms asks for, and copies a module instead of compiling one.
set -e
usage="dkms (stand-in): install|remove|status -m MODULE -v VERSION"
act=$1
[ $# -gt 0 ] && shift
while [ $# -gt 1 ]; do
    case "$1" in
        -m) module=$2 ;;
        -v) version=$2 ;;
        *) echo "$usage" >&2; exit 2 ;;
    esac
    shift 2
done
kernel=$(uname -r)
target=/lib/modules/$kernel/updates/dkms/nvidia.ko
case "$act" in
    install)
        if [ ! -e "/lib/modules/$kernel/build" ]; then
            echo "Error! Your kernel headers for kernel $kernel cannot be found at /lib/modules/$kernel/build (stand-in)." >&2
            exit 1
        fi
        for tool in gcc make; do
            command -v "$tool" >/dev/null || { echo "Error! $tool is not installed (stand-in)." >&2; exit 1; }
        done
        mkdir -p "${target%/*}"
        cp "/usr/src/$module-$version/nvidia.ko.built" "$target.new"
        mv "$target.new" "$target"
        depmod "$kernel"
        ;;
    remove)
        rm -f "$target"
        depmod "$kernel"
        ;;
    status)
        if [ -e "$target" ]; then echo "nvidia/$(modinfo -F version "$target"), $kernel, x86_64: installed (stand-in)"; fi
        ;;
    *) echo "$usage" >&2; exit 2 ;;
esac
