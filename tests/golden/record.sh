#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Records what real Go prints for the golden programs.
#
#   tests/golden/record.sh [-n RUNS] [-p PROGRAM[,PROGRAM...]] GO_ROOT...
#
# Each GO_ROOT is the root of a Go installation (GO_ROOT/bin/go). Every program
# of tests/golden/go is built with every release it is for, run RUNS times
# (default 20) with GOMAXPROCS=1 and GOGC=off, and its output is recorded when
# all runs agree; otherwise the program is reported as unstable, nothing is
# recorded for it and the exit status is 1. With all programs and all releases,
# recorded/ and index.tsv are written anew; with -p only those of the named programs.
# GOLDEN_CACHE names a directory for compiled packages that later calls can use.
#
# recorded/PROGRAM.txt is what all releases print; where they differ there is a
# file PROGRAM.go1.NN.txt per different output, named after the first release that
# prints it. index.tsv says which file holds for which program and release.
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
runs=20 only=
while getopts n:p: opt; do
	case $opt in
	n) runs=$OPTARG ;;
	p) only=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
if [ $# -eq 0 ]; then
	echo "usage: record.sh [-n RUNS] [-p PROGRAM[,PROGRAM...]] GO_ROOT..." >&2
	exit 2
fi
. "$here/lib.sh"
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cp "$here"/go/*.go "$work"
status=0

# Real-time priority, where allowed, keeps other load of the machine from
# looking like a time slice that is used up.
prio=
chrt -f 1 true 2>/dev/null && prio="chrt -f 1"

# run_once PROGRAM: the recorded form of one run on standard output.
run_once() {
	local code
	# shellcheck disable=SC2086 # $env, $pin and $prio are lists of words
	(cd "$work" && env GOMAXPROCS=1 GOGC=off $env $pin $prio timeout 20 "./$1.exe") \
		>"$work/stdout" 2>"$work/stderr"
	code=$?
	cat "$work/stdout"
	[ $code -eq 0 ] && [ ! -s "$work/stderr" ] && return
	echo "exit $code"
	normalise <"$work/stderr"
}

# record PROGRAM: build, run, compare; the agreed output becomes $work/PROGRAM.RELEASE.
record() {
	local i want flags
	flags=$(header gcflags "$here/go/$1.go")
	if ! (cd "$work" && "$root/bin/go" build -gcflags="$flags" -o "$1.exe" "$1.go" common.go) \
		>"$work/err" 2>&1; then
		echo "FAIL  $1 $release: does not build" >&2
		cat "$work/err" >&2
		status=1
		return
	fi
	env=$(header env "$here/go/$1.go")
	want=$(header exit "$here/go/$1.go")
	pin=
	[ "$(header cpus "$here/go/$1.go")" = 1 ] && pin="taskset -c 0"
	run_once "$1" >"$work/first"
	for ((i = 1; i < runs; i++)); do
		run_once "$1" >"$work/again"
		cmp -s "$work/first" "$work/again" && continue
		echo "UNSTABLE  $1 $release (run $((i + 1)))" >&2
		diff "$work/first" "$work/again" | head -6 >&2
		status=1
		return
	done
	if ! grep -q "^exit ${want:-0}$" "$work/first" && [ -n "$want" ]; then
		echo "FAIL  $1 $release: exit status is not $want" >&2
		status=1
		return
	fi
	if [ -z "$want" ] && grep -q '^exit ' "$work/first"; then
		echo "FAIL  $1 $release: $(tail -3 "$work/first" | tr '\n' ' ')" >&2
		status=1
		return
	fi
	mv "$work/first" "$work/$1.$release"
}

wanted() {
	[ "$1" != common ] && case ,${only:-$1}, in *,"$1",*) ;; *) false ;; esac
}

releases=
for root; do
	[ -x "$root/bin/go" ] || { echo "record.sh: no $root/bin/go" >&2; exit 2; }
	go_environment "$root" "${GOLDEN_CACHE:-$work/cache}"
	full=$("$root/bin/go" env GOVERSION)
	release=$(echo "$full" | sed -E 's/^(go1\.[0-9]+).*/\1/')
	releases="$releases $release"
	echo "recording with $full, $runs runs per program" >&2
	for f in "$here"/go/*.go; do
		name=$(basename "$f" .go)
		wanted "$name" || continue
		covers "$(header releases "$f")" "$release" && record "$name"
	done
done

# Write: outputs first seen in the order of the releases share a file.
mkdir -p "$here/recorded"
index=$here/index.tsv
touch "$index"
for f in "$here"/go/*.go; do
	name=$(basename "$f" .go)
	wanted "$name" || continue
	rm -f "$here/recorded/$name.txt" "$here/recorded/$name".go1.*.txt
	rows=
	sums=$(for r in $releases; do
		[ -f "$work/$name.$r" ] && cksum <"$work/$name.$r"
	done | sort -u | wc -l)
	for r in $releases; do
		[ -f "$work/$name.$r" ] || continue
		file=
		for g in "$here/recorded/$name".*txt; do
			[ -f "$g" ] && cmp -s "$g" "$work/$name.$r" && file=$g
		done
		if [ -z "$file" ]; then
			file=$here/recorded/$name.$r.txt
			[ "$sums" -eq 1 ] && file=$here/recorded/$name.txt
			cp "$work/$name.$r" "$file"
		fi
		rows="$rows$name	$r	$(basename "$file")
"
	done
	{ grep -v "^$name	" "$index"; printf %s "$rows"; } | sort -V >"$work/index"
	cp "$work/index" "$index"
done
exit $status
