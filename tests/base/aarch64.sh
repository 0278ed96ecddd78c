#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Cross-compiles sim/base with its tests for arm64 and runs them under qemu's user emulation.
# Usage: aarch64.sh SOURCE_DIR WORK_DIR asm|ucontext [SUITE...]. Exit status 77: a tool is missing.
set -eu
top=$1 work=$2 coro=$3
shift 3
cc=aarch64-linux-gnu-gcc
for tool in $cc qemu-aarch64-static; do
    command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
mkdir -p "$work"
sources="$top/sim/base/*.c"
[ "$coro" = ucontext ] || sources="$sources $top/sim/base/*.S"
# shellcheck disable=SC2086 # the list is meant to be split
$cc -std=c11 -O2 -g -Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes -Werror \
    "-DGMPSIM_CORO_$(echo "$coro" | tr '[:lower:]' '[:upper:]')" \
    -I"$top" -I"$top/tests/harness" $sources "$top"/tests/base/*_test.c \
    "$top"/tests/base/plain_main.c "$top"/tests/base/no_malloc.c \
    "$top"/tests/harness/harness.c "$top"/tests/harness/child.c \
    -o "$work/base_aarch64_$coro"
exec qemu-aarch64-static -L /usr/aarch64-linux-gnu "$work/base_aarch64_$coro" "$@"
