#!/bin/sh
# Owns the checks: types, lint and format, tests. All of them run, and any that fails makes this fail.
# Arguments: test files, or folders of them, which alone are run then: `npm test -- test/flows`.
set -eu
cd "$(dirname "$0")/.."
sh scripts/install.sh --dev
PATH="$PWD/node_modules/.bin:$PATH"
# What was compiled once need not be again by hundreds of test files and the programs that they start.
export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE-$PWD/node_modules/.cache/compiled}"
# Tests that cannot run here write their names there.
NOT_RUN_LIST=$(mktemp)
export NOT_RUN_LIST
trap 'rm -f "$NOT_RUN_LIST"' EXIT
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
fi
for path in "$@"; do
  shift
  [ ! -d "$path" ] || path="${path%/}/**/*.test.ts"
  set -- "$@" "$path"
done
# More than two files at once would only make the timing tests of slow machines lie.
check tests node --test --test-force-exit --test-concurrency=2 --test-timeout="${TEST_TIMEOUT_MS:-600000}" --test-reporter=spec "$@"

if [ -s "$NOT_RUN_LIST" ]; then
  echo "== not run, they need a real MongoDB (MONGODB_TEST_URI):"
  sort -u "$NOT_RUN_LIST" | sed 's/^/   /'
fi
[ "$status" -eq 0 ] && echo '== all checks passed' || echo "== failed:$failed" >&2
exit "$status"
