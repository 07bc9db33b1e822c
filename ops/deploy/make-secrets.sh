#!/bin/sh
# Makes the secrets of a trial, which has no API_URL: each once, as a file in the volumes of those who read it. A deployment for others gets
# none from here.
set -eu
if [ -n "$API_URL" ]; then
  if [ -z "$EMAIL_FROM" ]; then
    echo 'EMAIL_FROM must be set' >&2
    exit 1
  fi
  exit 0
fi

# keep READER NAME [VALUE]: stores a value, by default a new secret, unless there is one; prints what is stored.
keep() {
  file=/made/$1/$2
  if [ ! -e "$file" ]; then
    printf '%s\n' "${3:-$(od -An -vtx1 -N32 /dev/urandom | tr -d ' \n')}" >"$file.new"
    mv "$file.new" "$file"
  fi
  cat "$file"
}

{
  keep postgres POSTGRES_PASSWORD
  keep server DATABASE_URL "postgres://sheaf:$(keep postgres DATABASE_PASSWORD)@postgres:5432/sheaf"
  keep temporal POSTGRES_PWD "$(keep postgres TEMPORAL_DATABASE_PASSWORD)"
  keep server AUTH_SECRET
  keep ai SERVICE_TOKEN "$(keep server SERVICE_TOKEN)"
} >/dev/null
echo 'WARNING: a trial, since API_URL is not set. Its secrets were made here, and are kept in volumes. Mails are not sent: platform admins' \
  'read them in the console. For others: ops/deploy/env.example.'
