# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Shared by record.sh and check.sh.

# header KEY FILE: the value of a "// KEY: value" line at the top of a program.
header() {
	sed -n "/^package/q; s,^// $1: ,,p" "$2"
}

# covers RANGE RELEASE: does "1.23-", "1.23-1.26" or "" (all) include go1.NN?
covers() {
	local lo=${1%%-*} hi=${1##*-} n=${2#go1.}
	[ -z "$1" ] && return 0
	lo=${lo#1.} hi=${hi#1.}
	[ "$n" -ge "$lo" ] && [ "$n" -le "${hi:-999}" ]
}

# normalise: of a crash report, keep what the scheduler decides: the messages and
# each goroutine's wait reason, in the order of the dump. Ids other than main's 1
# depend on the runtime's own goroutines and are left out.
normalise() {
	sed -nE -e '/^\t*(fatal error|panic): /p' \
		-e 's/^goroutine 1 (.*):$/goroutine 1 \1/p; t' \
		-e 's/^goroutine [0-9]+ (.*):$/goroutine \1/p'
}

# go_environment ROOT CACHE: nothing of the caller's Go settings gets in.
go_environment() {
	export GOROOT=$1 GOCACHE=$2/${1##*/} GOPATH=$2/path GOTOOLCHAIN=local GO111MODULE=on
	export GOENV=off GOWORK=off CGO_ENABLED=0 GOFLAGS="" GODEBUG=""
}
