#!/bin/sh
# Puts the image that docker-compose.yml names now in the place of the one that runs, so that no request fails unless the edge or Postgres has
# changed, too: the schema first, then the AI service, the API and the workers, for each old container a new one before the old one is
# stopped. What else has changed comes last. Run it from the root of the project: see docs/deploy.md.
set -eu
docker compose build

# The containers of a service, without those of `docker compose run`: a backup may be under way.
list_all() {
  for id in $(docker compose ps --all --quiet "$@"); do
    oneoff=$(docker inspect --format '{{index .Config.Labels "com.docker.compose.oneoff"}}' "$id" || true)
    if [ "$oneoff" = False ]; then echo "$id"; fi
  done
}

# Always without what depends on it, which compose would stop for a change of the service that it depends on.
for step in databases temporal-schema migrate; do
  docker compose up --detach --no-deps --force-recreate "$step"
  code=$(docker wait "$(list_all "$step")")
  if [ "$code" != 0 ]; then
    docker compose logs "$step" >&2
    exit 1
  fi
done

list_new() {
  list_all "$service" | grep -vxF "$old" || true
}

give_up() {
  trap '' HUP INT TERM
  for id in $(list_new); do
    # The terminal may be gone.
    docker logs --tail 50 "$id" >&2 || true
    # The next run would take what failed for what is old.
    docker rm --force "$id" || true
  done
  echo "The new $service does not run, and was removed; the old one goes on." >&2
  exit 1
}

stop_old() {
  # shellcheck disable=SC2086 # several ids are several arguments
  docker stop $old
  # shellcheck disable=SC2086
  docker rm $old
}

finish() {
  trap '' HUP INT TERM
  stop_old || true
  echo "The upgrade was interrupted after $service: run it again." >&2
  exit 1
}

for service in ai api worker; do
  # Compose would start one that has ended, with the old image, instead of making a new one.
  for id in $(list_all --status exited --status created "$service"); do docker rm "$id"; done
  old=$(docker compose ps --quiet "$service")
  if [ -z "$old" ]; then
    echo "No $service runs here, so it is left out." >&2
    continue
  fi
  count=$(echo "$old" | wc -w)
  # As with what failed, if this is interrupted, such as by the end of a session.
  trap give_up HUP INT TERM
  docker compose up --detach --no-deps --no-recreate --wait --scale "$service=$((2 * count))" "$service" || give_up
  # The edge asks for the addresses of the API every ten seconds. A worker has no health check: one that cannot start has ended by then.
  if [ "$service" != ai ]; then sleep 12; fi
  for id in $(list_new); do
    if [ "$(docker inspect --format '{{.State.Running}} {{.RestartCount}}' "$id")" != 'true 0' ]; then give_up; fi
  done
  trap finish HUP INT TERM
  stop_old
  trap - HUP INT TERM
done
others=$(docker compose config --services | grep -vxE 'secrets|databases|temporal-(schema|namespace)|migrate|store-bucket|ai|api|worker')
# shellcheck disable=SC2086
docker compose up --detach --no-deps --wait $others
