#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Records in which orders real Go runs the programs of go/ on several Ps:
#
#     record.sh OUT [RUNS] GO...      GO: .../bin/go of 1.19, 1.23, 1.27, say; RUNS: default 200
#
# OUT/recorded.tsv: program, release, GOMAXPROCS, how often, the order; the commonest first. Whoever
# else runs on the machine changes what is measured, so the programs run under the scheduler's rule
# for real time (`chrt -f 1`, needs root): two recordings on a machine with a load of 6 and of 20
# were as alike as two on the same load. WITH='nice' in the environment does it otherwise.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=${1:?usage: record.sh OUT [RUNS] GO...}
shift
runs=200
[[ $1 =~ ^[0-9]+$ ]] && runs=$1 && shift
build=$(mktemp -d /tmp/spread.XXXXXX)
trap 'rm -rf "$build"' EXIT
export CGO_ENABLED=0 GOTOOLCHAIN=local GO111MODULE=off GOFLAGS=

for go in "$@"; do
    release=$("$go" env GOVERSION)
    release=${release%.*}
    for program in "$here"/go/*.go; do
        name=$(basename "$program" .go)
        mkdir -p "$build/src-$name"
        cp "$program" "$build/src-$name/main.go"
        cp "$here/go/common.txt" "$build/src-$name/common.go"
        (cd "$build/src-$name" && "$go" build -trimpath -o "$build/$name" main.go common.go)
        for procs in 2 4; do
            for ((i = 0; i < runs; i++)); do
                # shellcheck disable=SC2086 # several words
                GOMAXPROCS=$procs ${WITH:-chrt -f 1} "$build/$name"
            done | sort | uniq -c | sort -k1,1nr -k2 |
                while read -r count order; do
                    printf '%s\t%s\t%d\t%d\t%s\n' "$name" "$release" "$procs" "$count" "$order"
                done
        done
    done
done >"$out/recorded.tsv"
