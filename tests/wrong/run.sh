#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs the tests of the model against mutants of it and says which test catches each.
#
#     run.sh BUILD [ID...]     a configured build folder; no ID: all of mutants.tsv
#
# In the environment: JOBS, how many at once; PROGRAMS, a pattern: only these programs.
#
# Per mutant the test programs run one after the other until one fails. Each has a budget
# of CPU seconds; a program that is over it, or that crashes, has caught the mutant as well:
# it does not end on the model as it is. Prints one line per mutant:
#
#     ID <tab> test that failed first, or SURVIVOR <tab> CPU seconds
#
# Exit status: 0, or 1 if a mutant survives that survivors.tsv does not name, or the model as
# it is does not pass.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# program and CPU seconds, cheap ones first
budgets='model_rules_test 5
breakdown_test 5
timer_heap_test 5
explore_core_test 10
golden_test 10
model_test 60
timer_explore_test 15
model_explore_test 20
explore_runq_test 20'
budgets=$(grep -E "${PROGRAMS:-.}" <<<"$budgets")

# One program against mutant $1. Prints the case that failed and fails, if one does.
run_program() {
    local number=$1 program=$2 seconds=$3 log=$4 status=0
    (
        ulimit -t "$seconds" -c 0
        GMPSIM_WRONG=$number timeout "$((seconds * 100))" "$bin/wrong_$program" \
            --gtest_fail_fast >"$log" 2>&1
    ) 2>/dev/null || status=$?
    [ "$status" = 0 ] && return 0
    local case how
    case $status in # what came after the first failure is printed as run and skipped
    1) case=$(sed -n 's/^\[ *FAILED *\] \([^ ]*\) (.*/\1/p' "$log" | head -n 1) how= ;;
    *) case=$(sed -n 's/^\[ RUN *\] //p' "$log" | tail -n 1) how=' (crashes)' ;;
    esac
    case $status in
    137 | 152) how=' (does not end)' ;;
    124) # not the mutant's doing: the programs never sleep
        echo "run.sh: no CPU for $program, mutant number $number" >&2
        return 0
        ;;
    esac
    printf '%s.%s%s' "$program" "$case" "$how"
    return 1
}

# Mutant $1 with number $2.
run_mutant() {
    local id=$1 number=$2 log program seconds caught=SURVIVOR
    log=$(mktemp "$scratch/log.XXXXXX")
    while read -r program seconds; do
        caught=$(run_program "$number" "$program" "$seconds" "$log") || break
        caught=SURVIVOR
    done <<<"$budgets"
    times >"$log" # not in a pipe: there it would be the pipe's own
    awk -v id="$id" -v caught="$caught" 'NR == 2 {
        for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); cpu += 60 * t[1] + t[2] }
        printf "%s\t%s\t%.1f\n", id, caught, cpu }' "$log"
    rm -f "$log"
}

if [ "${1:-}" = --one ]; then
    bin=$2 scratch=$3
    run_mutant "$4" "$5"
    exit 0
fi

build=${1:?usage: run.sh BUILD [ID...]}
shift
cmake --build "$build" --target wrong_tests -- --quiet
bin=$(cd "$build/bin" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The mutants asked for, as lines "number id"; first of all number 0, the model itself.
python3 "$here/mutate.py" "$here/mutants.tsv" --list >"$scratch/all"
: >"$scratch/list"
for id in "$@"; do
    grep " $id\$" "$scratch/all" >>"$scratch/list" && continue
    echo "run.sh: no mutant $id" >&2
    exit 2
done
[ $# -gt 0 ] || cp "$scratch/all" "$scratch/list"

run_mutant MODEL 0 >"$scratch/model"
if ! grep -q SURVIVOR "$scratch/model"; then
    echo "run.sh: the model as it is fails: $(cat "$scratch/model")" >&2
    exit 1
fi
# shellcheck disable=SC2016 # the inner shell expands its arguments
xargs -P "${JOBS:-$(nproc)}" -L 1 "$BASH" -c 'exec "$0" "$1" --one "$2" "$3" "$5" "$4"' \
    "$BASH" "${BASH_SOURCE[0]}" "$bin" "$scratch" <"$scratch/list" | tee "$scratch/results"

caught=$(grep -cv SURVIVOR "$scratch/results" || true)
echo "$caught of $(wc -l <"$scratch/results") mutants caught"
status=0
while IFS=$'\t' read -r id what _; do
    named=no
    cut -f 1 "$here/survivors.tsv" | grep -qx "$id" && named=yes
    case $named.$what in
    no.SURVIVOR) echo "survives, and survivors.tsv does not name it: $id" && status=1 ;;
    yes.SURVIVOR) ;;
    yes.*) echo "caught now, take it out of survivors.tsv: $id" ;;
    esac
done <"$scratch/results"
exit $status
