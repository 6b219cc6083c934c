#!/bin/sh
# Stand-in by Rackwright for nvidia-persistenced: keeps the module "loaded", and says so to nvidia-smi.
set -e
modprobe nvidia
mode=Disabled
for word in "$@"; do
    case "$word" in
        --persistence-mode) mode=Enabled ;;
        --no-persistence-mode) mode=Disabled ;;
    esac
done
echo "$mode" >/run/nvidia-stand-in/persistence
trap 'rm -f /run/nvidia-stand-in/persistence; exit 0' TERM INT
sleep infinity &
wait
