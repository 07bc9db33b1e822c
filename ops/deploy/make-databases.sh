#!/bin/sh
# Makes the roles and databases of the service and of Temporal, as Postgres's superuser; leaves those that are there, but for their passwords.
# The superuser's own password it only uses.
# Neither role is a superuser, and neither may enter the other's databases. Only the service's may make databases.
set -eu

# The value of a variable, or of the file that <name>_FILE names.
secret() {
  value=$(printenv "$1" || true)
  file=$(printenv "$1_FILE" || true)
  if [ -n "$file" ]; then value=$(cat "$file"); fi
  if [ -z "$value" ]; then
    echo "$1 or $1_FILE must be set" >&2
    exit 1
  fi
  printf '%s' "$value"
}

PGPASSWORD=$(secret POSTGRES_PASSWORD)
SERVICE_PASSWORD=$(secret DATABASE_PASSWORD)
TEMPORAL_PASSWORD=$(secret TEMPORAL_DATABASE_PASSWORD)
export PGPASSWORD SERVICE_PASSWORD TEMPORAL_PASSWORD

psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username postgres --dbname postgres <<'SQL'
\getenv service_password SERVICE_PASSWORD
\getenv temporal_password TEMPORAL_PASSWORD

select format('create role %I', role) from unnest(array['sheaf', 'temporal']) as role
where not exists (select from pg_roles where rolname = role) \gexec
-- A rehearsed restore makes a database of its own.
alter role sheaf login createdb password :'service_password';
alter role temporal login password :'temporal_password';

select format('create database %I owner %I', name, owner)
from (values ('sheaf', 'sheaf'), ('temporal', 'temporal'), ('temporal_visibility', 'temporal')) as wanted (name, owner)
where not exists (select from pg_database where datname = name) \gexec
revoke connect on database sheaf, temporal, temporal_visibility, postgres from public;

\connect sheaf
create extension if not exists vector;
SQL
