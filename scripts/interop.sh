#!/bin/sh
# `npm run test:interop`: clients that others wrote, in their own languages, against the product as it is shipped. Packages are
# installed once, outside of the repository (test/interop/support/toolchain.ts). Arguments: folders of test/interop (`-- python go`).
set -eu
cd "$(dirname "$0")/.."
sh scripts/install.sh --dev
PATH="$PWD/node_modules/.bin:$PATH"
export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE-$PWD/node_modules/.cache/compiled}"
# Clients that cannot run here write why to this list.
NOT_RUN_LIST=$(mktemp)
export NOT_RUN_LIST
# Who answered the successes: the plain handlers should (src/oidc/plain/).
PLAIN_SHARE_LIST=$(mktemp)
export PLAIN_SHARE_LIST
trap 'rm -f "$NOT_RUN_LIST" "$PLAIN_SHARE_LIST"' EXIT

[ $# -gt 0 ] || set -- '**'
for name in "$@"; do
  shift
  [ "$name" = '**' ] || [ -d "test/interop/$name" ] || {
    echo "latchkey: there is no test/interop/$name. Give one of: $(cd test/interop && ls -d */ | tr -d '/' | tr '\n' ' ')" >&2
    exit 2
  }
  set -- "$@" "test/interop/$name/**/*.interop.ts"
done
status=0
node --test --import ./test/support/left-open.ts --import ./test/interop/support/plain-share.ts \
  --test-concurrency=1 --test-timeout=1800000 --test-reporter=spec "$@" || status=$?
if [ -s "$NOT_RUN_LIST" ]; then
  echo '== skipped, so not known to work here:'
  sort -u "$NOT_RUN_LIST" | sed 's/^/   /'
else
  echo '== nothing was skipped'
fi
node test/interop/support/share.ts "$PLAIN_SHARE_LIST" || status=$?
exit "$status"
