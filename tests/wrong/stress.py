#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which mutants are caught on real threads: writes the last column of measured.tsv.

    stress.py BUILD [--runs N] [ID...]     no ID: all mutants of the files below

gmpsim stress runs scenarios/stress with the mutated core, five tries of N runs with other seeds. A
mutant is caught if each try finds something; the column says what the first one found, or "-".
Other mutants have no such column. Prints a line per mutant; the model as it is comes first, and has
to pass.
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.path.join(HERE, "..", "..", "scenarios", "stress")
TABLE = os.path.join(HERE, "measured.tsv")
# Queues, waking, parking, locks and timers.
FILES = """globrunq gqueue lock mp netpoll note oslock park pidle proc runq sema spin steal sync
    syscall sysmon timer timer_heap timesleep""".split()
RUNS, TRIES, SEEDS_APART = 120, 5, 100000
TIMEOUT = 30  # s; the runs take a second of CPU


def mutants():
    """(number, id) of those in FILES, numbered as mutate.py does."""
    with open(os.path.join(HERE, "mutants.tsv"), encoding="utf-8") as f:
        rows = [line.split("\t") for line in f if line.strip() and not line.startswith("#")]
    return [(n, row[0]) for n, row in enumerate(rows, 1)
            if row[1].split(":")[0].rsplit(".", 1)[0] in FILES]


def attempt(program, number, runs, seed):
    """What was found, "" for nothing."""
    line = [program, "stress", LIBRARY, "--runs", str(runs), "--seed", str(seed), "--json"]
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=TIMEOUT, check=False,
                              env={**os.environ, "GMPSIM_WRONG": str(number)})
    except subprocess.TimeoutExpired:
        return "does not end"
    if done.returncode == 0:
        return ""
    try:
        return json.loads(done.stdout)["findings"][0]["verdict"]
    except (ValueError, IndexError):
        return "crashes"


def verdict(program, number, runs):
    found = [attempt(program, number, runs, 1)]
    while found[-1] and len(found) < TRIES:
        found.append(attempt(program, number, runs, 1 + SEEDS_APART * len(found)))
    return found[0] if found[-1] else "-"


def write(verdicts):
    with open(TABLE, encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f]
    for row in rows:
        if row[0] in verdicts:
            row[2:] = [verdicts[row[0]]]
    with open(TABLE, "w", encoding="utf-8") as f:
        f.writelines("\t".join(row) + "\n" for row in rows)


def main(args):
    build, wanted, runs = args.pop(0), [], RUNS
    while args:
        word = args.pop(0)
        if word == "--runs":
            runs = int(args.pop(0))
        else:
            wanted.append(word)
    subprocess.run(["cmake", "--build", build, "--target", "wrong_gmpsim", "--", "--quiet"],
                   check=True)
    program = os.path.join(build, "bin", "wrong_gmpsim")
    if attempt(program, 0, runs, 1):
        sys.exit("stress.py: the model as it is does not pass")
    verdicts = {}
    for number, name in mutants():
        if not wanted or name in wanted:
            verdicts[name] = verdict(program, number, runs)
            print(name, verdicts[name], sep="\t", flush=True)
            write({name: verdicts[name]})
    caught = sum(v != "-" for v in verdicts.values())
    print("%d of %d caught, in each of %d tries of %d runs" % (caught, len(verdicts), TRIES, runs))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
