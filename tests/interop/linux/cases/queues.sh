# Two I/O queues, small queue sizes, and a reconnect under load.
. /cases/common.sh
say "two queues, 16 entries each"
connect --nr-io-queues=2 --queue-size=16
write_and_compare 2048 4 0
say "several writers at once"
for part in 0 1 2 3; do
  dd if=/dev/urandom of=/tmp/part$part bs=1k count=2048 2>/dev/null
  dd if=/tmp/part$part of=$disk bs=16k seek=$((part * 128)) oflag=direct 2>/dev/null &
done
wait
for part in 0 1 2 3; do
  dd if=$disk bs=16k skip=$((part * 128)) count=128 iflag=direct 2>/dev/null | cmp - /tmp/part$part
done
say "disconnect while reading"
dd if=$disk of=/dev/null bs=1M count=200 iflag=direct 2>/dev/null &
sleep 0.2
disconnect
wait || true
say "connect again"
connect --keep-alive-tmo=1
sleep 3
write_and_compare 1024 256 0
disconnect
