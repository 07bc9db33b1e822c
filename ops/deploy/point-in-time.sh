#!/bin/sh
# Point in time recovery, by Postgres' own tools, for the profile `wal` of docker-compose.yml.
#   keep            receives the write-ahead log all the time and makes a base backup a day; the oldest beyond KEEP go, with their log
#   restore [TIME]  makes the data directory as it was at TIME, or as late as the log reaches; Postgres must not run meanwhile
# WAL_DIR has `base/` and `log/`. PGHOST is the directory of Postgres' socket, where the superuser needs no password.
set -eu
WAL_DIR=${WAL_DIR:-/wal}
KEEP=${KEEP:-7}
slot=point_in_time
mkdir -p "$WAL_DIR/base" "$WAL_DIR/log"
export PGUSER=postgres

ask() { psql --no-psqlrc --quiet --tuples-only --no-align --set ON_ERROR_STOP=1 --dbname postgres --command "$1"; }
bases() { ls "$WAL_DIR/base" | grep -v '\.part$' || true; }
# The first file of the log that a base backup needs.
first_log() { tar -xOzf "$WAL_DIR/base/$1/base.tar.gz" backup_label | sed -n 's/^START WAL LOCATION: .*file \([0-9A-F]*\))$/\1/p'; }

make_base() {
  name=$(date -u +%Y%m%dT%H%M%SZ)
  rm -rf "$WAL_DIR"/base/*.part
  pg_basebackup --pgdata="$WAL_DIR/base/$name.part" --format=tar --gzip --checkpoint=fast --wal-method=stream
  mv "$WAL_DIR/base/$name.part" "$WAL_DIR/base/$name"
  bases | head -n "-$KEEP" | while read -r old; do rm -rf "$WAL_DIR/base/$old"; done
  pg_archivecleanup "$WAL_DIR/log" "$(first_log "$(bases | head -n 1)")"
  echo "base backup $name; the log reaches back to $(bases | head -n 1)"
}

# Without its slot, or with one that Postgres has given up on (max_slot_wal_keep_size), the log has a gap: a new base backup begins after it.
receive() {
  state=$(ask "select wal_status from pg_replication_slots where slot_name = '$slot'")
  if [ "$state" = lost ]; then ask "select pg_drop_replication_slot('$slot')"; fi
  if [ -z "$state" ] || [ "$state" = lost ]; then
    ask "select pg_create_physical_replication_slot('$slot', true)" >/dev/null
    touch "$WAL_DIR/base-wanted"
  fi
  exec pg_receivewal --directory="$WAL_DIR/log" --slot="$slot" --no-loop
}

keep() {
  trap 'kill $receiver 2>/dev/null; exit 0' TERM INT
  receiver=
  while :; do
    if [ -z "$receiver" ] || ! kill -0 "$receiver" 2>/dev/null; then
      (receive) &
      receiver=$!
    fi
    newest=$(bases | tail -n 1)
    if [ -z "$newest" ] || [ -e "$WAL_DIR/base-wanted" ] || [ -n "$(find "$WAL_DIR/base/$newest" -maxdepth 0 -mmin +1439)" ]; then
      if make_base; then rm -f "$WAL_DIR/base-wanted"; fi
    fi
    sleep "${PAUSE:-30}" &
    wait $!
  done
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
  tar -xzf "$WAL_DIR/base/$base/base.tar.gz" -C "$PGDATA"
  tar -xzf "$WAL_DIR/base/$base/pg_wal.tar.gz" -C "$PGDATA/pg_wal"
  cp "$PGDATA/postgresql.auto.conf" "$PGDATA/postgresql.auto.conf.kept"
  {
    # The last file is not whole yet.
    echo "restore_command = 'cp \"$WAL_DIR/log/%f\" \"%p\" 2>/dev/null || cp \"$WAL_DIR/log/%f.partial\" \"%p\" 2>/dev/null'"
    if [ -n "$until" ]; then echo "recovery_target_time = '$(date -u -d "$until" '+%Y-%m-%d %H:%M:%S.%N+00')'"; fi
    echo "recovery_target_action = 'promote'"
  } >>"$PGDATA/postgresql.auto.conf"
  touch "$PGDATA/recovery.signal"
  # It replays the log here, since only this service sees it, and is stopped again. Postgres ends if the log does not reach the time.
  connections=$(pg_controldata "$PGDATA" | sed -n 's/^max_connections setting: *//p')
  options="-c listen_addresses='' -c unix_socket_directories='$PGHOST' -c max_connections=$connections"
  if ! pg_ctl --pgdata="$PGDATA" --silent --wait --timeout=86400 --log="$WAL_DIR/restore.log" --options="$options" start; then
    tail -n 5 "$WAL_DIR/restore.log" >&2
    exit 1
  fi
  while [ "$(ask 'select pg_is_in_recovery()')" = t ]; do sleep 1; done
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
