# mkfs, files, unmount, disconnect; another connection finds the same bytes.
. /cases/common.sh
connect
/bin/mke2fs -q -t ext4 $disk
mount -t ext4 $disk /mnt
say write files
i=0
while [ $i -lt 40 ]; do
  dd if=/dev/urandom of=/mnt/file$i bs=1k count=$((i * i + 1)) 2>/dev/null
  i=$((i + 1))
done
(cd /mnt && sha256sum file* > /tmp/sums)
umount /mnt
disconnect
say connect again
connect
mount -t ext4 $disk /mnt
(cd /mnt && sha256sum -c /tmp/sums | grep -c OK)
[ "$(cd /mnt && sha256sum -c /tmp/sums 2>/dev/null | grep -c OK)" = 40 ]
rm /mnt/file1*
sync
fstrim /mnt
umount /mnt
/bin/e2fsck -f -n $disk
disconnect
