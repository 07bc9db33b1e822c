#!/bin/sh
# Puts the image that docker-compose.yml names now in the place of the one that runs, so that no request fails: the schema first, then the
# AI service, the API and the workers, each new container beside its old one before that is stopped. What else has changed comes last. Run
# it from the root of the project: see docs/deploy.md.
set -eu
docker compose build
# Always without what depends on it, which compose would stop for a change of the service that it depends on.
for step in databases migrate; do
  docker compose up --detach --no-deps --force-recreate "$step"
  code=$(docker wait "$(docker compose ps --all --quiet "$step")")
  if [ "$code" != 0 ]; then
    docker compose logs "$step" >&2
    exit 1
  fi
done
for service in ai api worker; do
  old=$(docker compose ps --quiet "$service")
  count=$(echo "$old" | wc -w)
  docker compose up --detach --no-deps --no-recreate --wait --scale "$service=$((2 * count))" "$service"
  # The edge asks for the addresses of the API every ten seconds.
  if [ "$service" = api ]; then sleep 12; fi
  # shellcheck disable=SC2086 # several ids are several arguments
  docker stop $old
  # shellcheck disable=SC2086
  docker rm $old
done
others=$(docker compose config --services | grep -vxE 'databases|migrate|store-bucket|ai|api|worker')
# shellcheck disable=SC2086
docker compose up --detach --no-deps $others
