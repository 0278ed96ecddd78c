#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Executions per second of the run-queue test here and by Relacy, in one run, repetitions in turn.
#
#   bench/relacy/run.sh BENCH [REPS]
#
# BENCH is bench_explore_runq of a release build. RELACY names a folder with Relacy's sources
# (github.com/dvyukov/relacy); it is no part of this tree. Without it the script says so and ends
# with status 0.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bench=${1:?usage: bench/relacy/run.sh BENCH [REPS]}
reps=${2:-5}
if [ ! -f "${RELACY:-}/relacy/relacy.hpp" ]; then
	echo "RELACY names no folder with Relacy's sources: left out"
	echo "(git clone https://github.com/dvyukov/relacy)"
	exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${CXX:-c++}" -O3 -DNDEBUG -std=c++17 -w -I "$RELACY" "$here/runq.cpp" -o "$work/runq"
i=0
while [ "$i" -lt "$reps" ]; do
	"$work/runq" >>"$work/lines"
	"$bench" --lines >>"$work/lines"
	i=$((i + 1))
done
echo "executions per second of CPU, median of $reps; ratio to Relacy"
sort -t "$(printf '\t')" -k1,1 -k3,3n "$work/lines" | awk -F '\t' '
	BEGIN { count = 0 }
	$1 != name { flush(); name = $1; n = 0 }
	{ value[n++] = $3; ops = $2 }
	END {
		flush()
		for (i = 0; i < count; i++) {
			peer = names[i]
			sub(/^gmpsim [a-z0-9]+,|^Relacy/, "Relacy", peer)
			sub(/from the beginning/, "depth first", peer)
			peer = median[peer]
			rate = median[names[i]]
			printf "  %-44s %6.1f operations %10.0f a second %6.2f\n", names[i], size[i], rate, rate / peer
		}
	}
	function flush() {
		if (n == 0)
			return
		names[count] = name; size[count++] = ops; median[name] = value[int(n / 2)]
	}'
