#!/bin/sh
# Point in time recovery, by Postgres' own tools, for the profile `wal` of docker-compose.yml.
#   keep            receives the write-ahead log all the time and makes a base backup a day; the oldest beyond KEEP go, with their log
#   restore [TIME]  makes the data directory as it was at TIME, or as late as the log reaches; Postgres must not run meanwhile
# WAL_DIR has `base/`, and a directory `log-…` for each stretch of log without a gap. PGHOST is the directory of Postgres' socket, where the
# superuser needs no password.
set -eu
WAL_DIR=${WAL_DIR:-/wal}
KEEP=${KEEP:-7}
slot=point_in_time
mkdir -p "$WAL_DIR/base"
export PGUSER=postgres

ask() { psql --no-psqlrc --quiet --tuples-only --no-align --set ON_ERROR_STOP=1 --dbname postgres --command "$1"; }
now() { date -u +%Y%m%dT%H%M%SZ; }
bases() { ls "$WAL_DIR/base" | grep -v '\.part$' || true; }
logs() { ls -d "$WAL_DIR"/log-* 2>/dev/null || true; }
# The first file of the log that a base backup needs.
first_log() { tar -xOzf "$WAL_DIR/base/$1/base.tar.gz" backup_label | sed -n 's/^START WAL LOCATION: .*file \([0-9A-F]*\))$/\1/p'; }

# Every step says itself what follows if it fails: within a condition `set -e` does nothing.
make_base() {
  name=$(now)
  rm -rf "$WAL_DIR"/base/*.part
  pg_basebackup --pgdata="$WAL_DIR/base/$name.part" --format=tar --gzip --checkpoint=fast --wal-method=stream || return 1
  mv "$WAL_DIR/base/$name.part" "$WAL_DIR/base/$name" || return 1
  bases | head -n "-$KEEP" | while read -r old; do rm -rf "$WAL_DIR/base/$old"; done
  first=$(first_log "$(bases | head -n 1)")
  for log in $(logs); do
    pg_archivecleanup "$log" "$first"
    # What is empty is gone, but for the last one, which receives.
    if [ "$log" != "$(logs | tail -n 1)" ]; then rmdir "$log" 2>/dev/null || true; fi
  done
  echo "base backup $name; the oldest is $(bases | head -n 1)"
}

# Without its slot, or with one that Postgres has given up on (max_slot_wal_keep_size), the log has a gap: another stretch begins, and a base
# backup after that.
keep_slot() {
  state=$(ask "select wal_status from pg_replication_slots where slot_name = '$slot'")
  if [ -n "$state" ] && [ "$state" != lost ]; then return; fi
  if [ "$state" = lost ]; then ask "select pg_drop_replication_slot('$slot')" >/dev/null; fi
  mkdir -p "$WAL_DIR/log-$(now)"
  touch "$WAL_DIR/base-wanted"
  ask "select pg_create_physical_replication_slot('$slot', true)" >/dev/null
}

wants_base() {
  newest=$(bases | tail -n 1)
  [ -z "$newest" ] || [ -e "$WAL_DIR/base-wanted" ] || [ -n "$(find "$WAL_DIR/base/$newest" -maxdepth 0 -mmin +1439)" ]
}

keep() {
  trap 'kill $receiver 2>/dev/null; exit 0' TERM INT
  receiver=
  while :; do
    if [ -z "$receiver" ] || ! kill -0 "$receiver" 2>/dev/null; then
      keep_slot
      pg_receivewal --directory="$(logs | tail -n 1)" --slot="$slot" --no-loop &
      receiver=$!
    fi
    if wants_base && make_base; then rm -f "$WAL_DIR/base-wanted"; fi
    sleep "${PAUSE:-30}" &
    wait $!
  done
}

give_up() {
  grep -m 1 FATAL "$WAL_DIR/restore.log" >&2 || tail -n 5 "$WAL_DIR/restore.log" >&2
  echo "Nothing is restored: do not start Postgres, but restore again, to an earlier time or without one." >&2
  exit 1
}

restore() {
  [ -n "${PGDATA:-}" ] || { echo "PGDATA must name the data directory" >&2; exit 2; }
  if [ -e "$PGDATA/postmaster.pid" ]; then echo "Stop Postgres first: $PGDATA/postmaster.pid is there." >&2; exit 1; fi
  # The latest base backup that was made before the time.
  until=${1:-}
  limit=$(if [ -n "$until" ]; then date -u -d "$until" +%Y%m%dT%H%M%SZ; else echo 99999999T999999Z; fi)
  base=$(bases | awk -v limit="$limit" '$0 <= limit' | tail -n 1)
  if [ -z "$base" ]; then echo "There is no base backup before $until." >&2; exit 1; fi
  if [ -d "$PGDATA" ]; then mv "$PGDATA" "$PGDATA.before-$(date -u +%Y%m%dT%H%M%SZ)"; fi
  mkdir -p -m 700 "$PGDATA"
  # A time before the newest stretch is in the history of its base backup: an earlier restore may have begun another one since, from which
  # it cannot be reached.
  timeline=latest
  if logs | sed 's/.*log-//' | awk -v limit="$limit" '$0 > limit { newer = 1 } END { exit !newer }'; then timeline=current; fi
  tar -xzf "$WAL_DIR/base/$base/base.tar.gz" -C "$PGDATA"
  tar -xzf "$WAL_DIR/base/$base/pg_wal.tar.gz" -C "$PGDATA/pg_wal"
  cp "$PGDATA/postgresql.auto.conf" "$PGDATA/postgresql.auto.conf.kept"
  {
    # The last file of a stretch is not whole yet.
    found="\"$WAL_DIR\"/log-*/%f \"$WAL_DIR\"/log-*/%f.partial"
    echo "restore_command = 'for found in $found; do if [ -f \"\$found\" ]; then exec cp \"\$found\" \"%p\"; fi; done; exit 1'"
    if [ -n "$until" ]; then echo "recovery_target_time = '$(date -u -d "$until" '+%Y-%m-%d %H:%M:%S.%N+00')'"; fi
    echo "recovery_target_timeline = '$timeline'"
    echo "recovery_target_action = 'promote'"
  } >>"$PGDATA/postgresql.auto.conf"
  touch "$PGDATA/recovery.signal"
  # It replays the log here, since only this service sees it, and is stopped again. Postgres ends if the log does not reach the time.
  connections=$(pg_controldata "$PGDATA" | sed -n 's/^max_connections setting: *//p')
  options="-c listen_addresses='' -c unix_socket_directories='$PGHOST' -c max_connections=$connections"
  rm -f "$WAL_DIR/restore.log"
  pg_ctl --pgdata="$PGDATA" --silent --wait --timeout=86400 --log="$WAL_DIR/restore.log" --options="$options" start || give_up
  while replaying=$(ask 'select pg_is_in_recovery()' 2>/dev/null) || give_up && [ "$replaying" = t ]; do sleep 1; done
  at=$(ask 'select pg_last_xact_replay_timestamp()')
  pg_ctl --pgdata="$PGDATA" --silent --wait --mode=fast stop
  mv "$PGDATA/postgresql.auto.conf.kept" "$PGDATA/postgresql.auto.conf"
  echo "Restored from the base backup $base${at:+; the last change is of $at}."
}

case "${1:-}" in
  keep) keep ;;
  restore) restore "${2:-}" ;;
  *) echo "Usage: point-in-time.sh keep | restore [TIME]" >&2; exit 2 ;;
esac
