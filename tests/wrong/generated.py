#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tries generated mutants of model/ against the tests of the model on the virtual host.

    generated.py BUILD --sample N [--seed S]     N of them, drawn from S (default: 1)
    generated.py BUILD --all [TEXT ...]          all, or those whose name contains each TEXT; goes
                                                 on where it was ended
    generated.py BUILD --match TEXT ...          those whose name contains each TEXT
    generated.py BUILD --again [TEXT ...]        those of them that survived when last tried
    generated.py BUILD --one NAME                one, and what the test that fails says
    generated.py BUILD --table                   the table of what --all has found so far, and the
                                                 reasons whose mutants are noticed now
    generated.py BUILD --texts                   only whether each mutant is C, and each reason for
                                                 a mutant

BUILD is a configured build folder. What a mutant is: generate.py. How one is tried: runner.c; a
program holds up to 1,000 of them, so that the model is compiled once for each 1,000. What became of
each is a line of BUILD/tests/wrong/generated.tsv as soon as it is known, so that --all can be ended
at any time; of a mutant that is there twice the last line holds. Remove the file to begin anew.

survivors_generated*.tsv name those that no test notices, each with a reason. The exit status is 1
if more than 3 of 100 survive that have no reason there.

A reason that is for no mutant, because its text has moved, is an error, too.

    --most N     in place of 3
    -j JOBS      at once (default: as many as there are CPUs)
    -s SECONDS   for each mutant only cases that together take so long, quick ones first, at least
                 one (default: 4; --all: 0, all cases)
    --identical  compile each survivor alone: one whose code is that of the model is no mutant
"""
import hashlib
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import generate  # noqa: E402

TREE = os.path.join(HERE, "..", "..")
MODEL = os.path.join(TREE, "model")
SOURCES = ("model.c", "profile.c", "prog.c")
BATCH = 1000
KINDS = ("twice", "plus", "edge", "not", "drop", "release")


def die(text):
    sys.exit("generated.py: " + text)


def quietly(command, **more):
    r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if r.returncode != 0:
        die(" ".join(command) + ":\n" + r.stdout[-4000:])


class Tries:
    """Mutants against tests, in batches."""

    def __init__(self, build, jobs, seconds):
        self.build, self.jobs, self.seconds = build, jobs, seconds
        self.files = generate.read_model(MODEL)
        self.mutants = generate.all_mutants(self.files)
        self.out = os.path.join(build, "tests", "wrong", "gen")

    def program(self, mutants):
        generate.write(self.files, mutants, self.out)
        quietly(["cmake", "--build", self.build, "--target", "wrong_runner", "--parallel",
                 str(self.jobs), "--", "--quiet"])

    def command(self, count, more=()):
        return [os.path.join(self.build, "bin", "wrong_runner"), str(count), "-j",
                str(self.jobs), "-s", str(self.seconds)] + list(more)

    def run(self, count, more=()):
        return subprocess.run(self.command(count, more), stdout=subprocess.PIPE, text=True,
                              cwd=TREE)

    def batch(self, mutants):
        """Yields (mutant, how, case, ms), each as soon as it is known."""
        self.program(mutants)
        with subprocess.Popen(self.command(len(mutants)), stdout=subprocess.PIPE, text=True,
                              cwd=TREE) as r:
            for line in r.stdout:
                number, how, case, ms = line.split("\t")
                yield mutants[int(number) - 1], how, case, int(ms)
        if r.returncode != 0:
            die("the model as it is fails")

    def compile(self, source, out, more):
        quietly(["gcc", "-std=c11", "-w", "-DCORE=core_virt", '-DCORE_NAME="virt"',
                 "-DGMPSIM_CORO_ASM", "-include", os.path.join(out, "wrong.h"), "-I", out, "-I",
                 os.path.join(out, "model"), "-I", os.path.join(TREE, "sim", "virt"), "-I", TREE,
                 os.path.join(out, "model", source)] + more)

    def check_texts(self):
        """All mutants at once are C."""
        out = self.out + "_texts"
        generate.write(self.files, self.mutants, out)
        for source in SOURCES:
            self.compile(source, out, ["-fsyntax-only"])

    def is_identical(self, m):
        """The object of the model with this mutant and no other is that of the model."""
        generate.write(self.files, [m], self.out)
        codes = []
        for fixed in (0, 1):
            obj = os.path.join(self.out, f"one{fixed}.o")
            for source in SOURCES:
                self.compile(source, self.out, [f"-DWRONG_FIXED={fixed}", "-O2", "-c",
                                                "-frandom-seed=1", "-o", obj])
                with open(obj, "rb") as f:
                    codes.append(hashlib.sha256(f.read()).digest())
        return codes[:3] == codes[3:]


# ---- what is known ----

def read_survivors():
    """[(pattern of a name, reason)]; * stands for any text."""
    out = []
    for name in ("survivors_generated.tsv", "survivors_generated_nz.tsv"):
        with open(os.path.join(HERE, name), encoding="utf-8") as f:
            for line in f:
                if line.startswith("#") or not line.strip():
                    continue
                fields = line.rstrip("\n").split("\t")
                if len(fields) != 6:
                    die(f"{name}: want 6 fields: {line!r}")
                out.append((fields[:5], fields[5]))
    return out


def matches(pattern, text):
    return pattern == text or re.fullmatch(
        ".*".join(re.escape(p) for p in pattern.split("*")), text) is not None


def is_for(pattern, mutant):
    return all(matches(p, n) for p, n in zip(pattern, mutant.name().split("\t")))


def is_named(mutant, survivors):
    return any(is_for(pattern, mutant) for pattern, _ in survivors)


def print_lost(tries):
    """Reasons whose text is nowhere in the model any more; gives how many."""
    lost = [p for p, _ in read_survivors() if not any(is_for(p, m) for m in tries.mutants)]
    for pattern in lost:
        print("a reason for nobody\t" + "\t".join(pattern))
    return len(lost)


def reasons_done(survivors, results):
    """A reason whose mutants were all tried and all noticed."""
    for pattern, _ in survivors:
        hows = [how for m, how, _, _ in results if is_for(pattern, m)]
        if hows and not any(survives(how) for how in hows):
            yield pattern


def draw(mutants, n, seed):
    """n of them, by the hash of seed and name: a mutant more or less moves no other one."""
    return sorted(sorted(mutants, key=lambda m: hashlib.sha256(
        f"{seed}\t{m.name()}".encode()).digest())[:n], key=lambda m: m.number)


# ---- results ----

def kind_of(kind):
    return "release" if kind[-1] in "+-" else kind


COLUMNS = ("by-test", "by-runs", "survive")


def column_of(how):
    return {"survives": "survive", "unreached": "survive", "differs": "by-runs"}.get(how, "by-test")


def print_table(results):
    """results: [(file, kind, how)]. by-test: a test fails, crashes or does not end; by-runs: none
    does, but tests/scenarios/runs.tsv has other runs."""
    rows = {}
    for file, kind, how in results:
        for key in (file, "all"):
            row = rows.setdefault(key, dict.fromkeys(("mutants",) + COLUMNS, 0))
            row["mutants"] += 1
            row[column_of(how)] += 1
    print("%-18s %8s" % ("file", "mutants") + "".join("%10s" % c for c in COLUMNS) + "        %")
    for file, row in sorted(rows.items(), key=lambda x: (x[0] == "all", x[0])):
        print("%-18s %8d" % (file, row["mutants"]) + "".join("%10d" % row[c] for c in COLUMNS) +
              "%9.1f" % (100 * row["survive"] / row["mutants"]))


def wilson(k, n):
    """The 95 % interval of a share k of n, in percent."""
    z, n = 1.96, max(n, 1)
    p, d = k / n, 1 + 1.96 ** 2 / n
    middle = p + z * z / (2 * n)
    half = z * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    return 100 * max(0, middle - half) / d, 100 * (middle + half) / d


def judge(tries, results, identical, most):
    survivors = read_survivors()
    same, unnamed, survived = 0, [], 0
    for m, how, _, _ in results:
        if not survives(how):
            continue
        if identical and tries.is_identical(m):
            print("identical\t" + m.name())
            same += 1
            continue
        survived += 1
        if not is_named(m, survivors):
            unnamed.append((m, how))
    for m, how in unnamed:
        print(f"{how}\t{m.name()}")
    lost = print_lost(tries)
    count = len(results) - same
    low, high = wilson(survived, count)
    print(f"{count} mutants, {count - survived} noticed, {survived} survive "
          f"({100 * survived / max(count, 1):.1f} %; 95 % interval {low:.1f} to {high:.1f}), "
          f"{len(unnamed)} of them without a reason")
    return 1 if lost or len(unnamed) * 100 > most * count else 0


def survives(how):
    return column_of(how) == "survive"


def try_them(tries, chosen, path):
    """Results of the mutants; each is a line in path as soon as it is known."""
    results = []
    # every so-many-th: a batch has some of each file, and few inside each other
    batches = (len(chosen) + BATCH - 1) // BATCH
    for i in range(batches):
        with open(path, "a", encoding="utf-8", buffering=1) as f:
            for result in tries.batch(chosen[i::batches]):
                m, how, case, ms = result
                results.append(result)
                f.write(f"{m.name()}\t{how}\t{case}\t{ms}\n")
        if batches > 1:
            print(f"{i + 1} of {batches} programs", file=sys.stderr)
    return results


def read_tried(tries, path):
    by_name = {m.name(): m for m in tries.mutants}
    out = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            for line in f:
                fields = line.rstrip("\n").split("\t")
                m = by_name.get("\t".join(fields[:5]))
                if m is not None and len(fields) == 8:
                    out[m] = (m, fields[5], fields[6], int(fields[7]))
    return out


def option(args, name, default):
    """The value behind a name, which both leave the arguments."""
    if name not in args:
        return default
    at = args.index(name)
    if at + 1 == len(args):
        die(name + ": want a value")
    value = args[at + 1]
    del args[at:at + 2]
    return value


def main(args):
    if len(args) < 2:
        sys.exit(__doc__)
    jobs = int(option(args, "-j", os.cpu_count()))
    sample, seed = int(option(args, "--sample", 0)), option(args, "--seed", "1")
    seconds = int(option(args, "-s", 0 if "--all" in args else 4))
    one, most = option(args, "--one", None), float(option(args, "--most", 3))
    identical = "--identical" in args
    tries = Tries(args[0], jobs, seconds)
    path = os.path.join(args[0], "tests", "wrong", "generated.tsv")
    if one is not None:
        chosen = [m for m in tries.mutants if m.name().replace("\t", " ") == " ".join(one.split())]
        if not chosen:
            die("no such mutant")
        tries.program(chosen[:1])
        print(tries.run(1, ["-o", "1"]).stdout, end="")
        return 0
    if "--texts" in args:
        tries.check_texts()
        return min(1, print_lost(tries))
    tried = read_tried(tries, path)
    if "--table" in args:
        results = list(tried.values())
        for pattern in reasons_done(read_survivors(), results):
            print("noticed now\t" + "\t".join(pattern))
    elif "--all" in args:
        texts = args[args.index("--all") + 1:]
        wanted = [m for m in tries.mutants if all(t in m.name() for t in texts)]
        results = [tried[m] for m in wanted if m in tried]
        results += try_them(tries, [m for m in wanted if m not in tried], path)
    elif "--again" in args:
        texts = args[args.index("--again") + 1:]
        results = try_them(tries, [m for m in tries.mutants if m in tried and survives(tried[m][1])
                                   and all(t in m.name() for t in texts)], path)
    elif "--match" in args:
        texts = args[args.index("--match") + 1:]
        results = try_them(tries, [m for m in tries.mutants
                                   if all(t in m.name() for t in texts)], path)
    elif sample:
        results = try_them(tries, draw(tries.mutants, sample, seed), path)
    else:
        die("what? see its text")
    results.sort(key=lambda r: r[0].number)
    print_table([(m.file, m.kind, how) for m, how, _, _ in results])
    return judge(tries, results, identical, most)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
