#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The bash completion offers the commands and the options that the program prints.
# usage: completion_test.sh COMPLETION GMPSIM
set -eu
# shellcheck disable=SC1090
source "$1"
gmpsim=$2

# complete_words WORD...: what is offered for the last word
offered() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _gmpsim
    printf '%s\n' "${COMPREPLY[@]}"
}

want() {
    grep -qxF -- "$1" <<<"$2" || {
        printf 'want %s among:\n%s\n' "$1" "$2"
        exit 1
    }
}

want run "$(offered "$gmpsim" r)"
want --seed "$(offered "$gmpsim" run --s)"
want dev "$(cd "$(dirname "$0")/../.." && offered "$gmpsim" run de)"
[ -z "$(offered "$gmpsim" no-such-ver)" ] || {
    echo "something is offered for no-such-ver"
    exit 1
}
