#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Builds and runs the Go side of the benchmarks.
#
#   bench/go/run.sh [-n FACTOR] [NAME...]
#   bench/go/run.sh -parked COUNT
#
# Go is the one that the environment variable GO names, else the newest of PATH and
# of the usual places Debian and golang.org install to. Without any Go it says so and
# ends with status 0: the comparison is an extra, the simulator does not need it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

# version GO: a number that orders releases, 1.22.3 -> 1022003.
version() {
	GOTOOLCHAIN=local "$1" version 2>/dev/null |
		sed -nE 's/.* go([0-9]+)\.([0-9]+)(\.([0-9]+))?.*/\1 \2 \4/p' |
		awk '{ printf "%d%03d%03d\n", $1, $2, $3 }'
}

go=${GO:-}
if [ -z "$go" ]; then
	best=0
	for g in "$(command -v go || true)" /usr/lib/go-1.*/bin/go /usr/local/go/bin/go; do
		[ -x "$g" ] || continue
		v=$(version "$g")
		[ "${v:-0}" -gt "$best" ] && best=$v go=$g
	done
fi
if [ -z "$go" ] || [ -z "$(version "$go")" ]; then
	echo "bench/go: no Go is installed (set GO=/path/to/go); real Go is not measured"
	exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$here"
export GOTOOLCHAIN=local GOFLAGS='' GOWORK=off GO111MODULE=on CGO_ENABLED=0
export GOCACHE="${GOCACHE:-$work/cache}"
"$go" build -o "$work/bench" bench.go parked.go programs.go
"$work/bench" "$@"
