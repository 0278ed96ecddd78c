# SPDX-License-Identifier: BSD-3-Clause
# bash completion for gmpsim. Verbs and options are asked of the program itself, so
# that this file cannot be out of date.
# shellcheck shell=bash

_gmpsim()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
    local program=${COMP_WORDS[0]} verb=${COMP_WORDS[1]:-} words
    COMPREPLY=()

    if [ "$COMP_CWORD" = 1 ]; then
        words=$("$program" --help 2>/dev/null | sed -n 's/^ \{1,4\}\([a-z][a-z-]*\) .*/\1/p')
        mapfile -t COMPREPLY < <(compgen -W "$words --help --version" -- "$cur")
    elif [[ $cur == -* ]]; then
        words=$("$program" "$verb" --help 2>/dev/null | grep -oE -- '--[a-z][a-z0-9-]*' | sort -u)
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    elif [ "$prev" = --profile ]; then
        mapfile -t COMPREPLY < <(compgen -W "go1.{13..27} latest" -- "$cur")
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
}
complete -F _gmpsim gmpsim
