# Blocks of mixed sizes through a store on Linux's target: written, read, verified; digests off and on.
made="--size 192M"
for options in "" "header_digest=on" "data_digest=on" "header_digest=on&data_digest=on&queues=2&depth=8"; do
  disk="$url?nsid=1&$options"
  echo "--- ${options:-no digests}"
  for size in 4096 100000 1048576 2000000; do
    head -c $size /dev/urandom > block
    forebay store put "$disk" "$options $size" block $made > /dev/null
    made=
    forebay store get "$disk" "$options $size" --output back
    cmp block back
  done
done
forebay store verify "$url" | tee verified
grep -q "^16 records, .* 0 bad" verified
