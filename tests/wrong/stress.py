#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which mutants are caught on real threads: writes the last column of measured.tsv.

    stress.py BUILD [--runs N] [ID...]     no ID: all mutants of the files below; --untried: those
                                           that have no column yet

gmpsim stress runs, with the mutated core, the programs of tests/golden and of programs/ whose
output one P decides, each once, scenarios/stress and threads/, N times in all, and those of it
that are about waking some times more. A
mutant is caught if each of five such tries, with other seeds, finds something; the column says what
the first one found, "-" if one found nothing, and "order" if it found nothing because it cannot:
the mutant is a weaker memory order alone, which an x86 does not have. Other mutants have no such
column. Prints a line per mutant; the model as it is comes first, and has to pass.
"""
import glob
import json
import os
import re
import subprocess
import sys
from resource import RLIMIT_CPU, setrlimit
from signal import SIGKILL, SIGXCPU

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.path.join(HERE, "..", "..", "scenarios", "stress")
# Programs about time: no schedule, which may let it jump, has to do as they expect.
THREADS = os.path.join(HERE, "threads")
GOLDEN = os.path.join(HERE, "..", "golden", "scenarios")
TABLE = os.path.join(HERE, "measured.tsv")
# Queues, waking, parking, locks and timers.
FILES = """globrunq gqueue lock mp netpoll note oslock park pidle proc runq sema spin steal sync
    syscall sysmon timer timer_heap timesleep""".split()
# A program of tests/golden with one of these words prints what times decide, has a dump or a leak.
TIMED = ("chan_of_chan", "sleep", "after", "ticker", "timer", "timeout", "deadline", '"fd"',
         "syscall", "finalizer", "cleanup", "leak", '"gc"', "fatal")
# Whoever wakes somebody in these computes on: a wake-up that is lost is seen at the next look.
WAKING = ("wakes", "handed-over", "ready-at-once", "injected", "handed-off", "earlier-timers")
RUNS, WAKING_RUNS, TRIES, SEEDS_APART = 600, 200, 5, 100000
CPU_S, WALL_S = 60, 1800  # of one command; the model as it is needs a third of the first


def rows():
    """Of mutants.tsv, numbered as mutate.py does: (number, id, place, rule, text, replacement)."""
    with open(os.path.join(HERE, "mutants.tsv"), encoding="utf-8") as f:
        lines = [line.rstrip("\n").split("\t") for line in f
                 if line.strip() and not line.startswith("#")]
    return [(n, *row) for n, row in enumerate(lines, 1)]


def mutants():
    """(number, id) of those in FILES."""
    return [(row[0], row[1]) for row in rows()
            if row[2].split(":")[0].rsplit(".", 1)[0] in FILES]


def orders():
    """ids of those that differ from the model in the order of a verb alone."""
    def plain(text):
        return re.sub(r"_(rlx|acq|rel)\b", "", " ".join(text.split()))
    return {row[1] for row in rows() if plain(row[4]) == plain(row[5])}


def golden():
    paths = sorted(glob.glob(os.path.join(GOLDEN, "*.json")) +
                   glob.glob(os.path.join(HERE, "programs", "*.json")))
    return [path for path in paths if not any(word in text_of(path) for word in TIMED)]


def text_of(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def attempt(program, number, runs, seed):
    """What was found, "" for nothing."""
    ordered = golden()
    waking = [os.path.join(LIBRARY, name + ".json") for name in WAKING]
    return (stress(program, number, seed, len(ordered), [*ordered, "--procs", "1"]) or
            stress(program, number, seed, runs, [LIBRARY, THREADS]) or
            stress(program, number, seed, min(runs, WAKING_RUNS), waking))


def stress(program, number, seed, runs, what):
    line = [program, "stress", *what, "--runs", str(runs), "--seed", str(seed), "--json"]
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=WALL_S, check=False,
                              env={**os.environ, "GMPSIM_WRONG": str(number)},
                              preexec_fn=lambda: setrlimit(RLIMIT_CPU, (CPU_S, CPU_S + 1)))
    except subprocess.TimeoutExpired:
        return "does not end"
    if done.returncode == 0:
        return ""
    if done.returncode in (-SIGXCPU, -SIGKILL):
        return "does not end"
    try:
        return kind(json.loads(done.stdout)["findings"][0])
    except (ValueError, IndexError):
        return "crashes"


def kind(finding):
    """A program that ended well and is not as expected has another order of goroutines."""
    return "expectation" if finding["verdict"] == "finished" else finding["verdict"]


def verdict(program, number, runs):
    found = [attempt(program, number, runs, 1)]
    while found[-1] and len(found) < TRIES:
        found.append(attempt(program, number, runs, 1 + SEEDS_APART * len(found)))
    return found[0] if found[-1] else ""


def write(verdicts):
    with open(TABLE, encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f]
    for row in rows:
        if row[0] in verdicts:
            row[2:] = [verdicts[row[0]]]
    with open(TABLE, "w", encoding="utf-8") as f:
        f.writelines("\t".join(row) + "\n" for row in rows)


def untried():
    with open(TABLE, encoding="utf-8") as f:
        return [row[0] for row in (line.rstrip("\n").split("\t") for line in f) if len(row) == 2]


def main(args):
    build, wanted, runs, weaker = args.pop(0), [], RUNS, orders()
    while args:
        word = args.pop(0)
        if word == "--runs":
            runs = int(args.pop(0))
        elif word == "--untried":
            wanted += untried() or [""]  # none left: none
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
            verdicts[name] = (verdict(program, number, runs) or
                              ("order" if name in weaker else "-"))
            print(name, verdicts[name], sep="\t", flush=True)
            write({name: verdicts[name]})
    able = [v for v in verdicts.values() if v != "order"]
    print("%d of %d caught in each of %d tries; %d cannot be" %
          (sum(v != "-" for v in able), len(able), TRIES, len(verdicts) - len(able)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
