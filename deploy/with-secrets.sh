#!/bin/sh
# Runs a command with the secrets that the service `secrets` has made, but for those that are set: `sh with-secrets.sh COMMAND …`.
set -eu
for file in /run/made/*; do
  name=${file##*/}
  given=$(printenv "$name" "${name}_FILE" || true)
  if [ -f "$file" ] && [ -z "$given" ]; then export "$name=$(cat "$file")"; fi
done
# A trial searches by meaning and words; a deployment for others as its operator says (docs/configuration.md).
if [ -z "${NODE_ENV:-}" ] && [ -z "${SEARCH_DEFAULT_MODE:-}" ]; then export SEARCH_DEFAULT_MODE=hybrid; fi
exec "$@"
