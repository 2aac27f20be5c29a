#!/bin/sh
# Installs the locked packages from npm, and Node 24 in node_modules/.bin where the machine has none. Does nothing when all
# of it is installed. A node_modules that was installed otherwise (a platform's own
# `npm ci --omit=dev`) is left as it is, unless `--dev` asks for what only tests need.
set -eu
cd "$(dirname "$0")/.."

stamp=node_modules/.latchkey-lock
runtime=node_modules/.bin/node

# Whether the `node` on PATH can run TypeScript and has what we use (package.json, engines).
system_node_fits() {
  version=$(node --version 2>/dev/null) || return 1
  major=${version#v}
  minor=${major#*.}
  major=${major%%.*}
  minor=${minor%%.*}
  [ "$major" -gt 24 ] || { [ "$major" -eq 24 ] && [ "$minor" -ge 15 ]; }
}

# npm prints pages of its own; only a failure is worth reading.
quietly() {
  log=$(mktemp)
  if "$@" >"$log" 2>&1; then
    rm -f "$log"
  else
    status=$?
    cat "$log" >&2
    rm -f "$log"
    echo "latchkey: '$*' failed" >&2
    exit "$status"
  fi
}

is_stale() {
  [ ! -d node_modules ] || { [ -f "$stamp" ] && ! cmp -s package-lock.json "$stamp"; } ||
    { [ "${1:-}" = --dev ] && [ ! -d node_modules/typescript ]; }
}

if is_stale "${1:-}"; then
  echo 'latchkey: installing packages (once) ...' >&2
  # Node 24 itself is a development package: where the machine has none it is needed in production too.
  include=''
  if [ "${1:-}" = --dev ] || ! system_node_fits; then include=--include=dev; fi
  # No package may run code at install time; the one exception is below.
  quietly npm ci --ignore-scripts --no-audit --no-fund $include
  cp package-lock.json "$stamp"
fi

# The `node` package fetches its binary in an install script; it is the only one that may run, and only where needed.
if [ ! -x "$runtime" ] && [ -d node_modules/node ] && ! system_node_fits; then
  echo 'latchkey: fetching Node 24 (once) ...' >&2
  quietly npm rebuild node --ignore-scripts=false --no-audit --no-fund
fi

if [ ! -x "$runtime" ] && ! system_node_fits; then
  echo 'latchkey: Node 24.15 or newer is needed. Install it, or run `npm ci` with development packages.' >&2
  exit 1
fi
