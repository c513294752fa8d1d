# TLS of Linux's host: its own keys of both derivations and identities, discovery, authentication within it, and what
# must be refused.
# needs: disk
. /cases/common.sh
key32=NVMeTLSkey-1:01:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:
key48=NVMeTLSkey-1:02:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vcSEgBQ==:
other=NVMeTLSkey-1:01:VRLbtnN9AQb2WXW3c9+wEf/DRLz0QuLdbYvEhwtdWwNf9LrZ:
secret=DHHC-1:01:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:
discovery=nqn.2014-08.org.nvmexpress.discovery
uuid=11111111-2222-3333-4444-66666666666
count=0
modprobe nvme-keyring
modprobe tls
printf '[debug]\nloglevel=1\ntls=1\nnl=0\n[authenticate]\nkeyrings=.nvme\n' > /tmp/tlshd.conf
tlshd -s -c /tmp/tlshd.conf > /tmp/tlshd.log 2>&1 &

insert() { # KEY, NAME of the host, IDENTITY version, subsystem
  nvme check-tls-key --insert --identity "$3" --keydata "$1" --hostnqn "nqn.2026-12.org.forebay:$2" --subsysnqn "$4" >/dev/null
}
as() { # NAME of the host, further options
  name=$1 count=$((count + 1))
  shift
  connect --tls --hostnqn "nqn.2026-12.org.forebay:$name" --hostid $uuid$count "$@"
}
refused() { # why, NAME, further options
  say "refused: $1"
  name=$2
  shift 2
  if nvme connect -t tcp -a "$addr" -s "$port" -n "$nqn" --hostnqn "nqn.2026-12.org.forebay:$name" --hostid ${uuid}9 "$@"; then exit 1; fi
}

for version in 0 1; do
  say "identity $version, SHA-256"
  insert $key32 tls32-$version $version "$nqn"
  as tls32-$version
  write_and_compare 1024 128 0
  disconnect
done
say "SHA-384, where this tlshd can prove such a key (GnuTLS once took SHA-256 for every proof)"
insert $key48 tls48 1 "$nqn"
if as tls48; then
  write_and_compare 256 4 0
  disconnect
fi
say "authentication within TLS"
insert $key32 tls-auth 1 "$nqn"
as tls-auth --dhchap-secret $secret
write_and_compare 256 64 0
disconnect
say "discovery"
insert $key32 tls32-0 0 $discovery
nvme discover -t tcp -a "$addr" -s "$port" --tls --hostnqn nqn.2026-12.org.forebay:tls32-0 --hostid ${uuid}1 > /tmp/log
grep -q "subnqn:  $nqn" /tmp/log
grep -A 9 "^treq" /tmp/log | head -n 20
grep -q "sectype: *tls13" /tmp/log

refused "no TLS" tls32-0
refused "a host without a key" nobody --tls
insert $other tls-other 0 "$nqn"
refused "another key" tls-other --tls
refused "the secret is missing" tls-auth --tls
grep -i "TLS1.3" /tmp/tlshd.log | sort | uniq -c
