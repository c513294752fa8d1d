# needs: disk
# Linux's target over TLS: both identities, by the derivation that its libnvme has; another key, and none.
umask 077
echo NVMeTLSkey-1:01:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR: > key
echo NVMeTLSkey-1:01:VRLbtnN9AQb2WXW3c9+wEf/DRLz0QuLdbYvEhwtdWwNf9LrZ: > other
me="$url?host_nqn=nqn.2026-12.org.forebay:tls"
head -c 65536 /dev/urandom > block
forebay store put "${me}0&tls_psk_file=key&tls_identity=0&tls_compat=on&queues=2" key block --size 192M
forebay store get "${me}1&tls_psk_file=key&tls_compat=on&data_digest=on" key > back
cmp block back
for wrong in "${me}1" "${me}1&tls_psk_file=key" "${me}0&tls_psk_file=other&tls_identity=0&tls_compat=on"; do
  if forebay store stat "$wrong" 2> told; then exit 1; fi
  cat told
done
