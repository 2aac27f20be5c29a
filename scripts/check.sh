#!/bin/sh
# Owns the checks: types, lint and format, tests. All of them run, and any that fails makes this fail.
# Arguments: the test files to run instead of all.
set -eu
cd "$(dirname "$0")/.."
sh scripts/install.sh --dev
PATH="$PWD/node_modules/.bin:$PATH"
# What was compiled once need not be again by hundreds of test files and the programs that they start.
export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE-$PWD/node_modules/.cache/compiled}"
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

[ $# -gt 0 ] || set -- 'test/**/*.test.ts'
check types tsc --noEmit
check lint biome check --error-on-warnings .
# More than two files at once would only make the timing tests of slow machines lie.
check tests node --test --test-force-exit --test-concurrency=2 --test-timeout="${TEST_TIMEOUT_MS:-180000}" --test-reporter=spec "$@"

[ "$status" -eq 0 ] && echo '== all checks passed' || echo "== failed:$failed" >&2
exit "$status"
