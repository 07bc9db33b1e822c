#!/bin/sh
# Runs a command with the secrets that the service `secrets` has made, but for those that are set: `sh with-secrets.sh COMMAND …`.
set -eu
for file in /run/made/*; do
  name=${file##*/}
  given=$(printenv "$name" "${name}_FILE" || true)
  if [ -f "$file" ] && [ -z "$given" ]; then export "$name=$(cat "$file")"; fi
done
# A trial has on what a deployment for others has off until its operator says so (docs/configuration.md).
if [ -z "${NODE_ENV:-}" ]; then
  export SEARCH_DEFAULT_MODE="${SEARCH_DEFAULT_MODE:-hybrid}" EXTRA_CONTENT_TYPES="${EXTRA_CONTENT_TYPES:-all}"
  export LOCAL_EMBED_MODEL="${LOCAL_EMBED_MODEL:-e5,hash}"
  export EXTRA_JOB_KINDS="${EXTRA_JOB_KINDS:-document.process}" WEBHOOKS_ENABLED="${WEBHOOKS_ENABLED:-true}"
  if [ "${OCR_PROVIDER:-}" != none ]; then export OCR_SCANNED_PDF="${OCR_SCANNED_PDF:-true}"; fi
fi
exec "$@"
