#!/bin/sh
# Runs a TypeScript file of the project: sh scripts/with-node.sh FILE [ARGUMENT ...]
# Node 24 comes from node_modules where it is there, else from the machine (scripts/install.sh has checked its version).
set -eu
cd "$(dirname "$0")/.."
sh scripts/install.sh
if [ -x node_modules/.bin/node ]; then
  exec node_modules/.bin/node "$@"
fi
exec node "$@"
