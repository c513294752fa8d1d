# DH-HMAC-CHAP of Linux's host: hashes and groups, both directions and one, again under load, and what must be refused.
. /cases/common.sh
key=DHHC-1:01:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:
ctrl=DHHC-1:02:ZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp7fH1+f4CBgoOEhYaHiImKi4yNjo+QkZKTvGwQfg==:
uuid=11111111-2222-3333-4444-66666666666
count=0

as() { # NAME of the host, further options
  name=$1 count=$((count + 1))
  shift
  connect --hostnqn "nqn.2026-12.org.forebay:$name" --hostid $uuid$count "$@"
}
refused() { # why, NAME, further options
  say "refused: $1"
  name=$2
  shift 2
  if nvme connect -t tcp -a "$addr" -s "$port" -n "$nqn" --hostnqn "nqn.2026-12.org.forebay:$name" --hostid ${uuid}9 "$@"; then exit 1; fi
}

for name in sha256-null sha384-null sha512-null sha256-ffdhe2048 sha384-ffdhe2048 sha512-ffdhe2048; do
  say "$name, both directions"
  as $name --dhchap-secret $key --dhchap-ctrl-secret $ctrl
  write_and_compare 256 64 0
  disconnect
done
say "sha256-ffdhe3072, the host alone"
as sha256-ffdhe3072 --dhchap-secret $key
write_and_compare 256 64 0
say "again, under load"
dd if=/dev/zero of=$disk bs=64k seek=1000 count=400 oflag=direct 2>/dev/null &
for again in 1 2 3; do
  echo $key > /sys/class/nvme/nvme0/dhchap_secret
  sleep 0.5
done
wait
write_and_compare 256 64 0
[ "$(cat /sys/class/nvme/nvme0/state)" = live ]
disconnect
say "a host without a section needs no key"
connect
write_and_compare 256 64 0
disconnect

refused "another key" sha256-null --dhchap-secret $ctrl
refused "no key" sha256-null
refused "the target has another key" sha256-null --dhchap-secret $key --dhchap-ctrl-secret $key
refused "the target has no key" sha256-ffdhe3072 --dhchap-secret $key --dhchap-ctrl-secret $ctrl
dmesg | grep -iE "authenticat" | tail -n 20
dmesg | grep -q "controller authenticated"
