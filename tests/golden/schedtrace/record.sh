#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Records samples of GODEBUG=schedtrace of real Go.
#
#   tests/golden/schedtrace/record.sh GO_ROOT...
#
# Writes go1.NN.schedtrace.txt (GOMAXPROCS=4 GODEBUG=schedtrace=20) and
# go1.NN.scheddetail.txt (GOMAXPROCS=4 GODEBUG=schedtrace=50,scheddetail=1) per
# release. They are references for the format; the numbers differ from run to run.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for root; do
	go_environment "$root" "$work/cache"
	release=$("$root/bin/go" env GOVERSION | sed -E 's/^(go1\.[0-9]+).*/\1/')
	(cd "$work" && "$root/bin/go" build -o program "$here/program.go")
	GOMAXPROCS=4 GODEBUG=schedtrace=20 "$work/program" 2>"$here/$release.schedtrace.txt"
	GOMAXPROCS=4 GODEBUG=schedtrace=50,scheddetail=1 "$work/program" 2>"$here/$release.scheddetail.txt"
done
