# Linux's own NVMe/TCP target, one namespace on a RAM disk; serves until the guest is ended. With flap=SECONDS on the
# kernel's command line its port goes away and comes back so often; with auth=1 it knows one host, by its key; with tls=1
# its port speaks TLS alone, with keys of two hosts.
modprobe brd rd_nr=1 rd_size=196608
modprobe nvmet-tcp
mount -t configfs none /sys/kernel/config
nvmet=/sys/kernel/config/nvmet
mkdir "$nvmet/subsystems/$nqn"
echo 1 > "$nvmet/subsystems/$nqn/attr_allow_any_host"
mkdir "$nvmet/subsystems/$nqn/namespaces/1"
echo -n /dev/ram0 > "$nvmet/subsystems/$nqn/namespaces/1/device_path"
echo 1 > "$nvmet/subsystems/$nqn/namespaces/1/enable"
if grep -q " auth=1" /proc/cmdline; then
  host=$nvmet/hosts/nqn.2026-12.org.forebay:auth
  mkdir $host
  echo 0 > "$nvmet/subsystems/$nqn/attr_allow_any_host"
  ln -s $host "$nvmet/subsystems/$nqn/allowed_hosts/"
  echo DHHC-1:01:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR: > $host/dhchap_key
  echo DHHC-1:02:ZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp7fH1+f4CBgoOEhYaHiImKi4yNjo+QkZKTvGwQfg==: > $host/dhchap_ctrl_key
  echo "hmac(sha512)" > $host/dhchap_hash
  echo ffdhe2048 > $host/dhchap_dhgroup
fi
mkdir $nvmet/ports/1
echo tcp > $nvmet/ports/1/addr_trtype
echo ipv4 > $nvmet/ports/1/addr_adrfam
echo 0.0.0.0 > $nvmet/ports/1/addr_traddr
echo 4420 > $nvmet/ports/1/addr_trsvcid
if grep -q " tls=1" /proc/cmdline; then
  modprobe nvme-keyring
  modprobe tls
  printf '[authenticate]\nkeyrings=.nvme\n' > /tmp/tlshd.conf
  tlshd -s -c /tmp/tlshd.conf > /tmp/tlshd.log 2>&1 &
  sleep 1
  for version in 0 1; do
    nvme check-tls-key --insert --identity $version --hostnqn "nqn.2026-12.org.forebay:tls$version" --subsysnqn "$nqn" \
      --keydata NVMeTLSkey-1:01:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh+KfiaR:
  done
  echo tls1.3 > $nvmet/ports/1/addr_tsas
  echo required > $nvmet/ports/1/addr_treq
fi
ln -s "$nvmet/subsystems/$nqn" $nvmet/ports/1/subsystems/
echo "target-ready"
flap=$(sed -n 's/.* flap=\([^ ]*\).*/\1/p' /proc/cmdline)
while true; do
  sleep "${flap:-1000}"
  rm "$nvmet/ports/1/subsystems/$nqn"
  sleep 0.3
  ln -s "$nvmet/subsystems/$nqn" $nvmet/ports/1/subsystems/
done
