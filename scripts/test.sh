#!/bin/sh
# `npm test`: installs what the tests need, then runs all checks.
set -eu
cd "$(dirname "$0")/.."
sh scripts/install.sh --dev

# The pages are tested in a real browser, the stores on a real Redis. By the programs' names, which are the packages' too.
missing=''
for program in chromium redis-server; do
  command -v "$program" >/dev/null 2>&1 || missing="$missing $program"
done
if [ -n "$missing" ]; then
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "latchkey: the tests need$missing; install that and run this again." >&2
    exit 1
  fi
  echo "latchkey: installing$missing for the tests (once) ..." >&2
  log=$(mktemp)
  # shellcheck disable=SC2086 -- the list is meant to be split
  if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
  fi
  rm -f "$log"
fi

exec sh scripts/check.sh "$@"
