# Ends the processes of a supervisor that died. The supervisor keeps the standard input of this script open, on which the
# lines "add PID SIGNAL" and "drop PID" arrive. The end of input means that the supervisor is gone, however it died.
trap '' HUP INT QUIT TERM PIPE

watched=''
while read -r verb pid signal; do
  kept=''
  for entry in $watched; do
    [ "${entry%%:*}" = "$pid" ] || kept="$kept $entry"
  done
  watched=$kept
  if [ "$verb" = add ]; then watched="$watched $pid:$signal"; fi
done

[ -n "$watched" ] || exit 0

for entry in $watched; do
  kill -"${entry#*:}" "${entry%%:*}" 2>/dev/null
done

remaining=6
while [ "$remaining" -gt 0 ]; do
  alive=''
  for entry in $watched; do
    if kill -0 "${entry%%:*}" 2>/dev/null; then alive=yes; fi
  done
  [ -n "$alive" ] || break
  sleep 0.5
  remaining=$((remaining - 1))
done

# Each process leads a group of its own, so this ends what it started, too.
for entry in $watched; do
  kill -KILL "-${entry%%:*}" 2>/dev/null
done
exit 0
