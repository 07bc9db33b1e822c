#!/bin/sh
# Runs a TypeScript file of this project on a machine that has just Node and npm: `sh local/run.sh <file> [arguments]`.
# Installs the packages if they are missing or older than package-lock.json, then becomes Node 24. The install prints to
# standard error, so that standard output belongs to the program.
set -u
cd "$(dirname "$0")/.." || exit 1

installed=node_modules/.package-lock.json
lock=.install.lock
npm_pid=''

say() { echo "$*" >&2; }

# npm writes its own lock file into node_modules at the very end: without it an install was interrupted.
is_installed() { [ -f "$installed" ] && [ -z "$(find package-lock.json -newer "$installed")" ]; }

is_alive() { kill -0 "$1" 2>/dev/null || [ -d "/proc/$1" ]; }

# A lock is stale if its holders (this script and its npm, which outlives a script that is killed) are gone. Their process
# ids may belong to other programs by now, so an old lock is stale, too.
is_stale() {
  holders=$(cat "$lock/pids" 2>/dev/null)
  if [ -n "$holders" ]; then
    alive=''
    for holder in $holders; do
      if is_alive "$holder"; then alive=yes; fi
    done
    [ -n "$alive" ] || return 0
  fi
  [ -n "$(find "$lock" -prune -mmin +20 2>/dev/null)" ]
}

# Only one process may take over a stale lock, and only after looking again: it may have a new holder by now.
take_over() {
  mkdir "$lock/takeover" 2>/dev/null || return 1
  if is_stale; then
    echo $$ >"$lock/pids"
    rmdir "$lock/takeover"
    return 0
  fi
  rmdir "$lock/takeover"
  return 1
}

take_lock() {
  waited=''
  until mkdir "$lock" 2>/dev/null; do
    if is_stale && take_over; then return; fi
    if [ ! -d "$lock" ] && [ ! -w . ]; then
      say "The packages cannot be installed: $(pwd) is not writable."
      exit 1
    fi
    [ -n "$waited" ] || say "Waiting for another install of the packages in $(pwd) …"
    waited=yes
    sleep 1
  done
  echo $$ >"$lock/pids"
}

interrupted() {
  trap '' HUP INT TERM
  if [ -n "$npm_pid" ]; then
    kill -TERM "$npm_pid" 2>/dev/null
    wait "$npm_pid"
    rm -rf "$lock"
  fi
  exit "$1"
}

install() {
  command -v npm >/dev/null || { say 'npm is missing. Install Node 20 or newer (https://nodejs.org), which brings it.'; exit 1; }
  say 'Installing the packages (the first time this takes about a minute) …'
  # Node is one of the development packages, which NODE_ENV or npm's settings may leave out.
  # In the background, so that a signal is acted on at once.
  npm ci --include=dev --no-audit --no-fund --loglevel=error >&2 &
  npm_pid=$!
  echo "$npm_pid" >>"$lock/pids"
  seconds=0
  while kill -0 "$npm_pid" 2>/dev/null; do
    sleep 1
    seconds=$((seconds + 1))
    if [ ! -t 2 ] && [ $((seconds % 10)) -eq 0 ]; then say "… still installing ($seconds s)"; fi
  done
  wait "$npm_pid"
  status=$?
  npm_pid=''
  if [ "$status" -eq 0 ]; then touch "$installed"; fi
  rm -rf "$lock"
  if [ "$status" -ne 0 ]; then
    say "The packages could not be installed (npm ci ended with $status). Its messages are above; the next start tries again."
    exit "$status"
  fi
  say "Installed in $seconds s."
}

find_node() {
  node=node_modules/node/bin/node
  if "$node" --version >/dev/null 2>&1; then return; fi
  node=$(command -v node || true)
  [ -n "$node" ] && "$node" -e 'process.exit(Number.parseInt(process.versions.node, 10) >= 24 ? 0 : 1)'
}

# An install under NODE_ENV=production leaves out the development packages, and so Node.
lacks_node() { [ ! -e node_modules/node ] && ! find_node; }

if ! is_installed || lacks_node; then
  if [ -L node_modules ]; then
    say 'node_modules is a link, and installing would empty the folder that it leads to. Remove the link, or install there.'
    exit 1
  fi
  trap 'interrupted 129' HUP
  trap 'interrupted 130' INT
  trap 'interrupted 143' TERM
  take_lock
  # Another start may have installed them in the meantime.
  if is_installed && ! lacks_node; then rm -rf "$lock"; else install; fi
  trap - HUP INT TERM
fi

if ! find_node; then
  say 'Node 24 is missing: npm was to bring it as the package "node". If npm is told to run no install scripts (ignore-scripts),'
  say 'run `npm rebuild --ignore-scripts=false`, or install Node 24 yourself.'
  exit 1
fi
PATH="$(pwd)/node_modules/.bin:$PATH"
# Halves the time in which the API and the tests are up.
NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$(pwd)/node_modules/.cache/node}"
export PATH NODE_COMPILE_CACHE
exec "$node" "$@"
