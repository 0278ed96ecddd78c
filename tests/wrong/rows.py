#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Does the case that model/MIRROR.tsv names for a function notice when the function is wrong?

    rows.py BUILD              all rows, some of each function's mutants
    rows.py BUILD --sample N [--seed S]   N rows, drawn from S (default: 1)
    rows.py BUILD --match TEXT ...        rows that contain each TEXT
    rows.py BUILD FUNCTION ...            the rows of these functions

A row is good if at least one generated mutant of its function (generate.py) is caught by the very
case that the row names; each mutant meets that case and no other. It tries EACH mutants of a
function, those that leave something out first, and then the others, for the rows that noticed none
of them.

Not tried: rows whose case is in no program that runner.c has (threads, all schedules of the run
queue) and functions without a mutant. Prints the rows that notice nothing; the exit status is 1 if
there are any.
"""
import hashlib
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import generate  # noqa: E402
import generated  # noqa: E402

EACH, ROOM = 3, 3000
ORDER = ("drop", "not", "edge", "twice", "plus")


def rows_of():
    with open(os.path.join(generated.MODEL, "MIRROR.tsv"), encoding="utf-8") as f:
        for line in f.read().splitlines()[1:]:
            cells = line.split("\t")
            if len(cells) == 6:
                yield cells[0], re.split(r"[ ,]+", cells[5].strip())


def by_function(mutants):
    """Each function's mutants, the clearest first: what is left out, what is negated."""
    out = {}
    for m in mutants:
        if m.file != "profile.def":
            out.setdefault(m.function, []).append(m)
    for ms in out.values():
        ms.sort(key=lambda m: (ORDER.index(m.kind),
                               hashlib.sha256(m.name().encode()).digest()))
    return out


def cases_of_files():
    """The file of a test -> its cases: a row may name it."""
    out = {}
    for folder, _, found in os.walk(os.path.join(HERE, "..")):
        for name in found:
            if name.endswith("_test.c"):
                with open(os.path.join(folder, name), encoding="utf-8") as f:
                    for case in re.findall(r"TEST_CASE\((\w+),\s*(\w+)\)", f.read()):
                        out.setdefault(name[:-2], []).append(".".join(case))
    return out


def noticed(tries, wanted):
    """wanted: [(row, mutant, cases)]. The rows whose mutant is caught; the names without a case."""
    mutants = sorted({m for _, m, _ in wanted}, key=lambda m: m.number)
    number = {m: i for i, m in enumerate(mutants, 1)}
    tries.program(mutants)
    pairs = os.path.join(tries.out, "pairs.tsv")
    with open(pairs, "w", encoding="utf-8") as f:
        for _, m, cases in wanted:
            for case in cases:
                f.write(f"{number[m]}\t{case}\n")
    r = subprocess.run([os.path.join(tries.build, "bin", "wrong_runner"), str(len(mutants)), "-j",
                        str(tries.jobs), "-c", pairs], stdout=subprocess.PIPE, text=True,
                       cwd=os.path.join(HERE, "..", ".."))
    if r.returncode != 0:
        generated.die("the model as it is fails")
    caught = {tuple(line.split("\t")) for line in r.stdout.splitlines()}
    good = {row for row, m, cases in wanted for c in cases if (str(number[m]), c) in caught}
    return good, {c for n, c in caught if n == "0"}


def rounds(tries, rows, functions, files):
    """The rows that notice nothing, after EACH mutants and then all of them; the rows elsewhere."""
    left, nowhere = list(rows), set()
    for some in (slice(0, EACH), slice(EACH, None)):
        wanted = [(row, m, [c for t in row[1] for c in files.get(t, [t])])
                  for row in left for m in functions[row[0]][some]]
        for i in range(0, len(wanted), ROOM):
            good, unknown = noticed(tries, wanted[i:i + ROOM])
            nowhere |= unknown
            left = [row for row in left if row not in good]
    elsewhere = [row for row in left
                 if all(c in nowhere for t in row[1] for c in files.get(t, [t]))]
    return [row for row in left if row not in elsewhere], elsewhere


def main(args):
    if not args:
        sys.exit(__doc__)
    jobs, sample, seed = (int(generated.option(args, *o)) for o in (
        ("-j", os.cpu_count()), ("--sample", 0), ("--seed", 1)))
    tries = generated.Tries(args[0], jobs, 0)
    functions = by_function(tries.mutants)
    rows = [(f, tuple(t)) for f, t in rows_of()]
    if "--match" in args:
        texts = args[args.index("--match") + 1:]
        rows = [r for r in rows if all(t in " ".join((r[0],) + r[1]) for t in texts)]
    elif len(args) > 1:
        rows = [r for r in rows if r[0] in args[1:]]
    tried = [r for r in rows if r[0] in functions]
    if sample:
        tried = sorted(tried, key=lambda r: hashlib.sha256(f"{seed}\t{r}".encode()).digest())
        tried = tried[:sample]
    left, elsewhere = rounds(tries, tried, functions, cases_of_files())
    for f, tests in left:
        print("%s does not notice %s" % (" ".join(tests), f))
    print("%d rows tried, %d of them by cases elsewhere, %d notice nothing" %
          (len(tried), len(elsewhere), len(left)))
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
