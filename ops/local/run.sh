#!/bin/sh
# Runs a TypeScript file of this project on a machine that has just Node and npm: `sh ops/local/run.sh <file> [arguments]`.
# Installs the packages if they are missing or older than package-lock.json, then becomes Node 24. The install prints to
# standard error, so that standard output belongs to the program.
set -u
cd "$(dirname "$0")/../.." || exit 1

installed=node_modules/.package-lock.json
lock=.install.lock

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

# Two starts at once must not install into one folder. A lock that a kill has left is for the user to remove.
take_lock() {
  until mkdir "$lock" 2>/dev/null; do
    [ -d "$lock" ] || [ -w . ] || fail "The packages cannot be installed: $(pwd) is not writable."
    [ -n "${waited:-}" ] || say "Waiting for another install of the packages. If there is none, remove $(pwd)/$lock …"
    waited=yes
    sleep 1
  done
  trap 'rmdir "$lock"' EXIT
}

install() {
  command -v npm >/dev/null || fail 'npm is missing. Install Node 20 or newer (https://nodejs.org), which brings it.'
  say 'Installing the packages (the first time this takes about a minute) …'
  # Node is one of the development packages, which NODE_ENV or npm's settings may leave out.
  npm ci --include=dev --no-audit --no-fund --loglevel=error >&2
  status=$?
  [ "$status" -ne 0 ] || touch "$installed"
}

if ! is_ready; then
  [ ! -L node_modules ] || fail 'node_modules is a link, and installing would empty the folder that it leads to. Remove the link, or install there.'
  trap 'exit 130' HUP INT TERM
  take_lock
  status=0
  # Another start may have installed them in the meantime.
  is_ready || install
  rmdir "$lock"
  trap - EXIT HUP INT TERM
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
