#!/bin/sh
# Owns `npm test`: brings what the tests need, asking nothing, then runs all checks.
set -eu
cd "$(dirname "$0")/.."
sh scripts/install.sh --dev

# The pages are tested in a real browser.
if ! command -v chromium >/dev/null 2>&1; then
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo 'latchkey: the browser tests need chromium; install it and run this again.' >&2
    exit 1
  fi
  echo 'latchkey: installing chromium for the browser tests (once) ...' >&2
  log=$(mktemp)
  if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium; } >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
  fi
  rm -f "$log"
fi

exec sh scripts/check.sh "$@"
