#!/bin/sh
# Prepares Temporal, which its server's image leaves to others: `sh prepare-temporal.sh schema` brings its two databases up to date, and
# `namespace` makes the namespace `default` once the server responds. What is there already stays.
set -eu

bring_up_to_date() {
  temporal-sql-tool --database "$1" setup-schema --version 0.0
  temporal-sql-tool --database "$1" update-schema --schema-name "postgresql/v12/$2"
}

# By its address: for a name, gRPC asks DNS for more than its network responds to.
ask() {
  temporal operator namespace "$@" --namespace default --address "$(getent hosts temporal | cut -d ' ' -f 1):7233"
}

case $1 in
  schema)
    export SQL_PLUGIN="$DB" SQL_HOST="$POSTGRES_SEEDS" SQL_PORT="$DB_PORT" SQL_USER="$POSTGRES_USER" SQL_PASSWORD="$POSTGRES_PWD"
    bring_up_to_date temporal temporal
    bring_up_to_date temporal_visibility visibility
    ;;
  namespace)
    tries=60
    # As long as finished jobs are kept, so that their links work.
    until ask describe >/dev/null 2>&1 || ask create --retention 720h; do
      tries=$((tries - 1))
      if [ "$tries" = 0 ]; then exit 1; fi
      sleep 1
    done
    ;;
esac
