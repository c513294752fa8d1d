# What the cases share. Each case runs under `sh -e`: a command that fails is a case that failed.
modprobe nvme-tcp
disk=/dev/nvme0n1

say() { echo "--- $*"; }

connect() { # further options of nvme connect
  nvme connect -t tcp -a "$addr" -s "$port" -n "$nqn" "$@"
  tries=0
  while [ ! -b $disk ] && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
  [ -b $disk ]
}

disconnect() { nvme disconnect -n "$nqn"; }

# Random bytes of SIZE (KiB) written in blocks of BLOCK (KiB) at SEEK blocks, read back, compared.
write_and_compare() {
  size=$1 block=$2 seek=$3
  dd if=/dev/urandom of=/tmp/pattern bs=1k count="$size" 2>/dev/null
  dd if=/tmp/pattern of=$disk bs="${block}k" seek="$seek" oflag=direct conv=fsync 2>/dev/null
  echo 3 > /proc/sys/vm/drop_caches
  dd if=$disk of=/tmp/back bs="${block}k" skip="$seek" count=$((size / block)) iflag=direct 2>/dev/null
  cmp /tmp/pattern /tmp/back
  say "$size KiB in blocks of $block KiB are identical"
}
