#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Builds and runs the Go side of the benchmarks.
#
#   bench/go/run.sh [-n FACTOR] [NAME...]
#   bench/go/run.sh -parked COUNT
#   bench/go/run.sh -build FOLDER
#
# With -build it runs nothing: a line "built VERSION PROGRAM" for each Go that GO names, with colons
# between them; without GO for the newest and for 1.23, as far as they are installed.
#
# Go is the one that the environment variable GO names, else the newest of PATH and
# of the usual places Debian and golang.org install to. Without any Go it says so and
# ends with status 0: the comparison is an extra, the simulator does not need it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

export GOTOOLCHAIN=local GOFLAGS='' GOWORK=off GO111MODULE=on CGO_ENABLED=0

# version GO: a number that orders releases, 1.22.3 -> 1022003.
version() {
	"$1" version 2>/dev/null |
		sed -nE 's/.* go([0-9]+)\.([0-9]+)(\.([0-9]+))?.*/\1 \2 \4/p' |
		awk '{ printf "%d%03d%03d\n", $1, $2, $3 }'
}

# newest [BELOW]: of those that are installed, older than this number.
newest() {
	best=0 found=
	for g in "$(command -v go || true)" /usr/lib/go-1.*/bin/go /usr/local/go/bin/go; do
		[ -x "$g" ] || continue
		v=$(version "$g")
		if [ "${v:-0}" -gt "$best" ] && [ "${v:-0}" -lt "${1:-9999999}" ]; then
			best=$v found=$g
		fi
	done
	echo "$found"
}

if [ "${1:-}" = -build ]; then
	folder=$2 n=0
	gos=$(echo "${GO:-}" | tr : ' ')
	[ -n "$gos" ] || gos="$(newest) $(newest 1024000)"
	export GOCACHE="${GOCACHE:-$folder/cache}"
	cd "$here"
	for go in $gos; do
		n=$((n + 1))
		"$go" build -o "$folder/bench$n" bench.go parked.go programs.go || continue
		echo "built $("$go" env GOVERSION) $folder/bench$n"
		[ "$(newest)" != "$(newest 1024000)" ] || [ -n "${GO:-}" ] || break
	done
	[ "$n" -gt 0 ] || echo "bench/go: no Go is installed (set GO=/path/to/go)"
	exit 0
fi

go=${GO:-$(newest)}
if [ -z "$go" ] || [ -z "$(version "$go")" ]; then
	echo "bench/go: no Go is installed (set GO=/path/to/go); real Go is not measured"
	exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$here"
export GOCACHE="${GOCACHE:-$work/cache}"
"$go" build -o "$work/bench" bench.go parked.go programs.go
"$work/bench" "$@"
