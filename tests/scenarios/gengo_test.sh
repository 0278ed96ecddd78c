#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every scenario as a Go program: gofmt has nothing to change, go vet nothing to say, and
# programs of every kind print what the recorded one printed.
# usage: gengo_test.sh GMPSIM    (skipped, 77, where there is no Go)
set -euo pipefail
gmpsim=$1
if ! command -v go >/dev/null || ! command -v gofmt >/dev/null; then
    echo "skipped: no Go toolchain in PATH"
    exit 77
fi
export GOTOOLCHAIN=local GOPROXY=off GOFLAGS=-mod=mod GOGC=off
here=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GOCACHE=${GOCACHE:-$work/cache}
printf 'module x\n\ngo 1.19\n' >"$work/go.mod"

for file in scenarios/*/*.json tests/golden/scenarios/*.json; do
    name=${file#tests/}
    name=${name#scenarios/}
    name=$work/${name//\//_}
    mkdir -p "${name%.json}"
    "$gmpsim" scenarios gen-go "$file" >"${name%.json}/main.go"
done
changed=$(gofmt -l "$work")
if [ -n "$changed" ]; then
    echo "not as gofmt writes it: $changed"
    exit 1
fi
# What this Go does not have yet cannot be built by it.
minor=$(go env GOVERSION | sed 's/^go1\.\([0-9]*\).*/\1/')
if [ "$minor" -lt 24 ]; then
    grep -l 'runtime\.AddCleanup(' "$work"/*/main.go | xargs -r dirname | xargs -r rm -r
fi
cd "$work"
go vet ./...

# Their order is decided by the program, or by one P. Where it is decided by timers too, a
# loaded machine may be late: three tries.
as_recorded() {
    for _ in 1 2 3; do
        ./program >out 2>err || true
        sed '/^exit [0-9]*$/,$d' "$here/tests/golden/recorded/$1.txt" | cmp - out && return 0
    done
    echo "$1: not as recorded"
    return 1
}

bad=0
for name in spawn_order chan_close_wakes chan_of_chan cond_broadcast context_tree defer_order \
    fan_in iter_pull once_func panic_replaced pipeline pool_order rwmutex_readers select_one_ready \
    sieve ticker_slow_receiver timer_reset_order waitgroup_reuse worker_pool; do
    go build -o program "./golden_scenarios_$name"
    as_recorded "$name" || bad=1
done
exit $bad
