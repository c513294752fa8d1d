# Discover, connect, data of several sizes, admin commands, disconnect.
. /cases/common.sh
say discover
nvme discover -t tcp -a "$addr" -s "$port" > /tmp/log
grep -q "subnqn: *$nqn" /tmp/log
say connect
connect
nvme id-ctrl /dev/nvme0 | grep -E '^(mn|cntlid|mdts|ioccsz|oncs|vwc|kas) '
nvme id-ns $disk | grep -E '^(nsze|nguid) |in use'
write_and_compare 4096 64 0
write_and_compare 4096 1024 8
write_and_compare 256 4 1000
say admin commands
nvme flush $disk -n 1
nvme smart-log /dev/nvme0 | head -n 3
nvme get-feature /dev/nvme0 -f 7
nvme error-log /dev/nvme0 -e 1 > /dev/null
nvme fw-log /dev/nvme0 > /dev/null
nvme effects-log /dev/nvme0 > /dev/null
say write zeroes and compare
nvme write-zeroes $disk -n 1 -s 0 -c 7
dd if=$disk bs=4k count=8 iflag=direct 2>/dev/null | cmp -n 32768 - /dev/zero
dd if=/dev/zero of=/tmp/zero bs=4k count=1 2>/dev/null
nvme compare $disk -n 1 -s 0 -c 0 -z 4096 -d /tmp/zero
dd if=/dev/urandom of=/tmp/other bs=4k count=1 2>/dev/null
if nvme compare $disk -n 1 -s 0 -c 0 -z 4096 -d /tmp/other; then exit 1; fi
nvme dsm $disk -n 1 -d -s 0 -b 8
say disconnect
disconnect
[ ! -b $disk ]
