#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds one program in several configurations and compares what it prints.
#
# usage: compare.sh [--native] [--compilers] [--want-difference] TARGET [ARGS...]
#
# TARGET is a CMake target of this project that prints lines (such as "name
# fingerprint") on stdout. Lines must be the same, byte for byte, and at least one.
# arm64 takes part where a cross compiler and qemu-user are installed, unless --native
# is given (for programs that need libraries). --compilers leaves ASan and valgrind out, for
# what takes long. --want-difference turns the verdict
# around: it shows that a difference is found.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

build_root=${GMPSIM_BUILD:-build}/determinism
native='' compilers='' want_difference=''
while [[ ${1:-} == --* ]]; do
    case $1 in
    --native) native=1 ;;
    --compilers) compilers=1 ;;
    --want-difference) want_difference=1 ;;
    *) echo "compare.sh: unknown option $1" >&2 && exit 2 ;;
    esac
    shift
done
[ $# -ge 1 ] || { echo "usage: compare.sh [options] TARGET [ARGS...]" >&2 && exit 2; }
target=$1
shift
args=("$@")
out=$build_root/out/$target
rm -rf "$out"
mkdir -p "$out"
# Pools with stacks of their own look like leaks to nobody, but ASan's quarantine
# must not decide how much memory is reused.
export ASAN_OPTIONS=abort_on_error=0

# build NAME COMPILER [cmake options]
build() {
    local name=$1 cc=$2 dir=$build_root/$1
    shift 2
    command -v "$cc" >/dev/null || { echo "compare.sh: no $cc" >&2 && exit 2; }
    mkdir -p "$dir"
    CC=$cc cmake -S . -B "$dir" -G Ninja -DGMPSIM_DETERMINISM=ON -DGMPSIM_TESTS=OFF \
        -DGMPSIM_BENCH=OFF "$@" >"$dir/configure.log" 2>&1 || {
        cat "$dir/configure.log"
        exit 1
    }
    cmake --build "$dir" --target "$target" >"$dir/build.log" 2>&1 || {
        tail -n 40 "$dir/build.log"
        exit 1
    }
}

# run NAME [launcher...]: prints go to $out/NAME
run() {
    local name=$1 dir=$1
    shift
    [ "$name" != valgrind ] || dir=gcc-O3
    "$@" "$build_root/$dir/bin/$target" "${args[@]}" >"$out/$name" || {
        echo "compare.sh: $target fails in configuration $name" >&2
        exit 1
    }
    printf '%-12s %6d lines  %s\n' "$name" "$(wc -l <"$out/$name")" "$(cksum <"$out/$name")"
}

echo "$target ${args[*]}"
for level in O0 O3; do
    build gcc-$level gcc -DGMPSIM_OPT=-$level && run gcc-$level
    build clang-$level clang -DGMPSIM_OPT=-$level && run clang-$level
done
if [ -z "$compilers" ]; then
    build gcc-asan gcc -DGMPSIM_OPT=-O1 -DGMPSIM_SANITIZE=address,undefined && run gcc-asan
    run valgrind valgrind -q --error-exitcode=99
fi
if [ -z "$native" ] && command -v aarch64-linux-gnu-gcc qemu-aarch64-static >/dev/null; then
    build arm64 aarch64-linux-gnu-gcc -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
        -DCMAKE_C_FLAGS=-static && run arm64 qemu-aarch64-static
fi

[ -s "$out/gcc-O0" ] || { echo "compare.sh: $target prints nothing" >&2 && exit 1; }
status=0
for file in "$out"/*; do
    cmp -s "$out/gcc-O0" "$file" && continue
    echo "DIFFERENT: gcc-O0 and ${file##*/}:"
    diff "$out/gcc-O0" "$file" | head -n 10 || true
    status=1
done
[ -z "$want_difference" ] || exit $((1 - status))
exit $status
