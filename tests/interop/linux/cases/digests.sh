# Header and data digests: Linux checks ours, we check Linux's.
. /cases/common.sh
for digests in --hdr-digest --data-digest "--hdr-digest --data-digest"; do
  say "connect $digests"
  connect $digests
  write_and_compare 4096 128 0
  write_and_compare 256 4 1000
  disconnect
done
dmesg | grep -iE "digest error|digest.*(recv|expected)" && exit 1
exit 0
