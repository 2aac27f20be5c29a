#!/bin/sh
# Types, lint and format, unused code, tests. All of them run; any failure makes this fail.
# Arguments: the tests to run instead: files, folders, areas or words of paths and first comments (`npm test -- clients lockout`).
set -eu
cd "$(dirname "$0")/.."
sh scripts/install.sh --dev
PATH="$PWD/node_modules/.bin:$PATH"
# What was compiled once need not be again by hundreds of test files and the programs that they start.
export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE-$PWD/node_modules/.cache/compiled}"
# Tests that cannot run here write their names there.
NOT_RUN_LIST=$(mktemp)
export NOT_RUN_LIST
trap 'rm -rf "$NOT_RUN_LIST" "${PROGRAMS:-}" "${in_memory:-}"' EXIT
trap 'exit 130' INT TERM
# What tests write is waited for until it is on the disk, thousands of times, and soon removed. Where memory has 8 GB to spare it
# lies there, which is the same to a process that is killed. Programs have to run from there, too.
if [ -z "${TMPDIR:-}" ] && [ "$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')" -gt 8000000 ] 2>/dev/null; then
  in_memory=$(mktemp -d /dev/shm/latchkey.XXXXXX)
  printf '#!/bin/sh\n' >"$in_memory/program" && chmod +x "$in_memory/program"
  if "$in_memory/program" 2>/dev/null; then
    TMPDIR=$in_memory
    export TMPDIR
  fi
  rm "$in_memory/program"
fi
status=0

check() {
  name=$1
  shift
  echo "== $name"
  "$@" || {
    status=1
    failed="${failed:-} $name"
  }
}

if [ $# -eq 0 ]; then
  set -- test
  check types tsc --noEmit
  check lint biome check --error-on-warnings .
  check unused knip
fi
# Each argument names test files; one that names none is a mistake, not a success.
PROGRAMS=$(mktemp -d)
node scripts/test-files.ts "$PROGRAMS" "$@"
# A young generation that need not grow first saves a tenth of the time of hundreds of short processes.
# Nothing of ours is a link: to ask that of each file that is loaded takes a fifth of what loading takes.
# On two cores: tests wait a third of their time. More than three files at once would make the timing tests lie.
check tests node --min-semi-space-size=16 --preserve-symlinks --test --import ./test/support/left-open.ts --test-concurrency=3 --test-timeout="${TEST_TIMEOUT_MS:-600000}" --test-reporter=spec "$PROGRAMS"/*.mjs

if [ -s "$NOT_RUN_LIST" ]; then
  echo "== not run, they need a real MongoDB (MONGODB_TEST_URI):"
  sort -u "$NOT_RUN_LIST" | sed 's/^/   /'
fi
[ "$status" -eq 0 ] && echo '== all checks passed' || echo "== failed:$failed" >&2
exit "$status"
