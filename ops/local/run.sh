#!/bin/sh
# Runs a TypeScript file of this project on a machine that has just Node and npm: `sh ops/local/run.sh <file> [arguments]`.
# Installs the packages if they are missing or older than package-lock.json, then becomes Node 24. The install prints to
# standard error, so that standard output belongs to the program.
set -u
cd "$(dirname "$0")/../.." || exit 1

installed=node_modules/.package-lock.json
lock=.install.lock
npm_pid=''

say() { echo "$*" >&2; }

fail() {
  say "$1"
  exit "${2:-1}"
}

# npm writes its own lock file into node_modules at the very end: without it an install was interrupted.
is_installed() { [ -f "$installed" ] && [ -z "$(find package-lock.json -newer "$installed")" ]; }

find_node() {
  node=node_modules/node/bin/node
  if "$node" --version >/dev/null 2>&1; then return; fi
  node=$(command -v node || true)
  [ -n "$node" ] && "$node" -e 'process.exit(Number.parseInt(process.versions.node, 10) >= 24 ? 0 : 1)'
}

# An install under NODE_ENV=production leaves out the development packages, and so Node.
is_ready() { is_installed && { [ -e node_modules/node ] || find_node; }; }

# A lock is stale if this script and its npm, which outlives a script that is killed, are gone.
is_stale() {
  for holder in $(cat "$lock/pids" 2>/dev/null); do
    if kill -0 "$holder" 2>/dev/null || [ -d "/proc/$holder" ]; then return 1; fi
  done
  [ -s "$lock/pids" ]
}

take_lock() {
  until mkdir "$lock" 2>/dev/null; do
    [ -d "$lock" ] || [ -w . ] || fail "The packages cannot be installed: $(pwd) is not writable."
    # Only one takes over a stale lock, and only after looking again: it may have a new holder by now.
    if is_stale && mkdir "$lock/takeover" 2>/dev/null; then
      is_stale && echo $$ >"$lock/pids"
      rmdir "$lock/takeover"
      [ "$(cat "$lock/pids")" != $$ ] || return 0
    fi
    [ -n "${waited:-}" ] || say "Waiting for another install of the packages. If there is none, remove $(pwd)/$lock …"
    waited=yes
    sleep 1
  done
  echo $$ >"$lock/pids"
}

interrupted() {
  trap '' HUP INT TERM
  [ -z "$npm_pid" ] || { kill -TERM "$npm_pid" 2>/dev/null; wait "$npm_pid"; }
  [ "$(head -n 1 "$lock/pids" 2>/dev/null)" != $$ ] || rm -rf "$lock"
  exit "$1"
}

install() {
  command -v npm >/dev/null || fail 'npm is missing. Install Node 20 or newer (https://nodejs.org), which brings it.'
  say 'Installing the packages (the first time this takes about a minute) …'
  # Node is one of the development packages, which NODE_ENV or npm's settings may leave out.
  # In the background, so that a signal is acted on at once.
  npm ci --include=dev --no-audit --no-fund --loglevel=error >&2 &
  npm_pid=$!
  echo "$npm_pid" >>"$lock/pids"
  wait "$npm_pid"
  status=$?
  npm_pid=''
  [ "$status" -ne 0 ] || touch "$installed"
}

if ! is_ready; then
  [ ! -L node_modules ] || fail 'node_modules is a link, and installing would empty the folder that it leads to. Remove the link, or install there.'
  trap 'interrupted 129' HUP
  trap 'interrupted 130' INT
  trap 'interrupted 143' TERM
  take_lock
  status=0
  # Another start may have installed them in the meantime.
  is_ready || install
  rm -rf "$lock"
  trap - HUP INT TERM
  [ "$status" -eq 0 ] ||
    fail "The packages could not be installed (npm ci ended with $status). Its messages are above; the next start tries again." "$status"
fi

find_node || fail 'Node 24 is missing: npm was to bring it as the package "node". If npm is told to run no install scripts (ignore-scripts),
run `npm rebuild --ignore-scripts=false`, or install Node 24 yourself.'
PATH="$(pwd)/node_modules/.bin:$PATH"
# Halves the time that the API and the tests take to start.
NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$(pwd)/node_modules/.cache/node}"
export PATH NODE_COMPILE_CACHE
exec "$node" "$@"
