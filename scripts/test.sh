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
# Chromium without windows of its own takes half of its time (test/pages/browser.ts). Where it cannot be had, the run is longer.
windowless=''
command -v chromium-headless-shell >/dev/null 2>&1 || windowless=' chromium-headless-shell'

can_install() {
  [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1
}

log=$(mktemp)
# shellcheck disable=SC2086 -- the list is meant to be split
install() {
  echo "latchkey: installing$* for the tests (once) ..." >&2
  { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $*; } >"$log" 2>&1
}

if [ -n "$missing" ] && ! can_install; then
  echo "latchkey: the tests need$missing; install that and run this again." >&2
  exit 1
fi
if [ -n "$missing$windowless" ] && can_install && ! install "$missing$windowless"; then
  if [ -n "$missing" ] && ! install "$missing"; then
    cat "$log" >&2
    exit 1
  fi
fi
rm -f "$log"

exec sh scripts/check.sh "$@"
