#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Goal: ./dev says what it can do and refuses the rest; .ci/run is red when anything is.
# Method: .ci/run runs in an empty folder beside a ./dev that plays each step.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

fail() {
    echo "door_test: $*"
    exit 1
}

# ---- dev ----

usage=$("$root/dev") || fail "./dev alone should exit 0"
for command in demo test quick bench lint fmt asan tsan determinism wrong differ fuzz manual \
    clean-room; do
    grep -q "^  $command " <<<"$usage" || fail "./dev does not list $command"
    grep -q "^command_${command//-/_}() {" "$root/dev" || fail "./dev has no function for $command"
done
status=0
"$root/dev" no-such-command >/dev/null 2>&1 || status=$?
[ $status = 2 ] || fail "an unknown command should exit 2, not $status"

# ---- .ci/run ----

mkdir "$temp/.ci"
cp "$root/.ci/run" "$temp/.ci/"
cat >"$temp/dev" <<'END'
#!/bin/sh
case $1 in
"$RED_BEFORE_TESTS") echo "no compiler"; exit 2 ;;
"$RED_TESTS") echo "90% tests passed, 1 tests failed out of 10"; exit 8 ;;
fuzz) echo "no closing line here" ;;
*) echo "100% tests passed, 0 tests failed out of 10" ;;
esac
END
chmod +x "$temp/dev"

# want STATUS LAST_LINE [variables]
want() {
    local status=0 last expected=$1 line=$2
    shift 2
    last=$(env RED_BEFORE_TESTS='' RED_TESTS='' "$@" "$temp/.ci/run" | tail -n 1) || status=$?
    [ "$last" = "$line" ] || fail "last line of CI: want '$line', got '$last'"
    [ $status = "$expected" ] || fail "status of CI: want $expected, got $status"
}
set -o pipefail
want 0 '100% tests passed, 0 tests failed out of 61'
want 1 '98% tests passed, 1 tests failed out of 61' RED_TESTS=asan
want 1 '98% tests passed, 1 tests failed out of 52' RED_BEFORE_TESTS=tsan
want 1 '98% tests passed, 1 tests failed out of 61' RED_BEFORE_TESTS=fuzz
