#!/bin/sh
# Stand-in by Rackwright for the fabric manager @VERSION@: refuses a driver of another version, as the real one does.
set -e
version=@VERSION@
modprobe nvidia
loaded=$(cat /run/nvidia-stand-in/loaded)
if [ "$loaded" != "$version" ]; then
    echo "fabric manager NVIDIA GPU driver interface version $version don't match with driver version $loaded (stand-in)" |
        tee -a /var/log/fabricmanager.log >&2
    exit 1
fi
links=$(sed -n 's/.*"fabric": *"\([^"]*\)".*/\1/p' /etc/nvidia-stand-in/machine.json)
case "$links" in
    nvlink5)
        [ -d /sys/module/ib_umad ] || { echo "ib_umad is not loaded (stand-in)" >&2; exit 1; }
        [ -x /opt/nvidia/nvlsm/sbin/nvlsm ] || { echo "/opt/nvidia/nvlsm/sbin/nvlsm does not exist (stand-in)" >&2; exit 1; }
        ;;
    nvswitch) ;;
    *) echo "NV_WARN_NOTHING_TO_DO: there is no NVSwitch (stand-in)" >&2; exit 1 ;;
esac
echo Completed >/run/nvidia-stand-in/fabric
trap 'rm -f /run/nvidia-stand-in/fabric; exit 0' TERM INT
sleep infinity &
wait
