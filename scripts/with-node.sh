#!/bin/sh
# Runs a TypeScript file of the project: sh scripts/with-node.sh FILE [ARGUMENT ...]
# Node 24 comes from node_modules where it is there, else from the machine (scripts/install.sh has checked its version).
# The two processes of the product run from the bundle where there is one, with the memory that suits them. All that is
# said about that is here: Procfile, Dockerfile and compose.yaml start them by this file.
set -eu
cd "$(dirname "$0")/.."
sh scripts/install.sh
node=node_modules/.bin/node
[ -x "$node" ] || node=node

case "${1:-}" in
  src/main.ts | src/worker.ts)
    # With an argument it only answers: nothing to build for that.
    entry=$1
    [ $# -gt 1 ] || entry=$(sh scripts/bundled.sh "$1" "$node")
    shift
    # The start is loading code: kept between starts, in a folder that only who may change the program can write.
    export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE-$PWD/node_modules/.cache/latchkey}"
    # Each thread of the pool keeps what it freed of password hashes, in an arena of its own; V8 keeps up to 100 MiB of young
    # objects, and lets garbage double the heap. Workers of a cluster inherit all three (docs/sizing.md, "Start and memory").
    export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX-1}"
    # A password hash goes back and forth through 19 MiB: in pages of 2 MiB where the kernel gives them when asked.
    export GLIBC_TUNABLES="${GLIBC_TUNABLES-glibc.malloc.hugetlb=1}"
    set -- --max-semi-space-size=4 --heap-growing-percent=30 "$entry" "$@"
    ;;
esac
exec "$node" "$@"
