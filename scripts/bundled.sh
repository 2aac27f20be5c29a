#!/bin/sh
# Prints the file that starts a process of the product: sh scripts/bundled.sh src/main.ts NODE. It is of the bundle where
# that is whole and made of these very sources, else the source itself. Builds the bundle first where it can: it needs esbuild,
# a development package, and a folder to write to.
set -eu
cd "$(dirname "$0")/.."
entry=$1
node=$2

# Each bundle has the folder that its sources name, so that running processes keep theirs when another is built.
sources=$(find src adapters interactions scripts/bundle.ts package-lock.json tsconfig.json -type f ! -name '.*' | LC_ALL=C sort | xargs cksum | cksum)
folder=bundle/$(echo "$sources" | tr ' ' '-')

sum_of() {
  (cd "$1" && cksum ./*.js)
}

is_whole() {
  [ -f "$folder/sum" ] && [ "$(sum_of "$folder" 2>&1)" = "$(cat "$folder/sum")" ]
}

build() {
  [ -d node_modules/esbuild ] && [ -w . ] || return 0
  new=bundle/new-$$
  # Seconds on a small machine, before which nothing else is said.
  [ ! -t 2 ] || echo 'latchkey: building the program (once) ...' >&2
  if "$node" scripts/bundle.ts "$new" && sum_of "$new" >"$new/sum"; then
    # A process that starts at the same time may have been first, and runs from there.
    if ! is_whole; then
      rm -rf "$folder"
      mv "$new" "$folder"
      rm -rf "$folder/new-$$"
    fi
    # shellcheck disable=SC2012 -- the names are our own
    ls -1td bundle/[0-9]*/ | tail -n +4 | xargs rm -rf
  else
    echo 'latchkey: the bundle could not be built; running the sources.' >&2
  fi
  rm -rf "$new"
}

is_whole || build
bundled=$folder/$(basename "$entry" .ts).js
if is_whole; then echo "$bundled"; else echo "$entry"; fi
