# The target's port goes away every two seconds while a store on it is read: connections are lost, no read is.
for size in 1000000 2000000; do
  for i in 1 2 3; do
    head -c $size /dev/urandom > block
    tries=0
    # A write that was on its way is not sent again: its command fails, and is given again.
    until forebay store put "$url" "$size $i" block --size 192M > /dev/null 2> log; do
      tries=$((tries + 1))
      [ $tries -lt 40 ] || { cat log; exit 1; }
    done
  done
done
touch losses
for i in $(seq 60); do
  # What is open waits for its target; opening a store does not.
  if forebay store verify "$url" > verified 2>> losses; then
    grep -q "^6 records, .* 0 bad" verified
  else
    grep -q "connect" losses
  fi
  lost=$(grep -c "connection lost" losses || true)
  [ "$lost" -lt 2 ] || break
done
echo "6 records read $i times, $lost connections lost"
[ "$lost" -ge 2 ]
