#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: whatever the system refuses, the command ends with status 2 and a sentence, or did all of
its work. Method: a preloaded library makes the n-th call of a kind fail; n is a seeded sample of
all calls that the command makes, or every one. Of kind "size" a file has room for n bytes and no
more, which is what the C library's own writes meet.

usage: faults_test.py GMPSIM SHIM [--every] [--seed N] [--points N] [WORD...]

WORDs choose the commands whose line contains them.
"""
import argparse
import concurrent.futures
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
FILE = os.path.join(ROOT, "scenarios", "everyday", "worker-pool.json")
NETWORK = os.path.join(ROOT, "scenarios", "netpoll", "burst.json")
BAD = os.path.join(HERE, "bad.json")
KERNEL = os.path.join(ROOT, "scenarios", "kernels", "etcd-7492.json")
FIXED = os.path.join(ROOT, "scenarios", "kernels", "etcd-7492-fixed.json")
DEEP = os.path.join(ROOT, "tests", "replay", "recorded", "deep-go26.trace.zst")
TRACE = os.path.join(ROOT, "tests", "trace", "recorded", "mutex-go26.trace")
OLD = os.path.join(ROOT, "tests", "trace", "recorded", "mutex-go19.trace")
WRK = os.path.join(ROOT, "tests", "fuzz", "corpus", "measured", "wrk.txt")
PROM = os.path.join(ROOT, "tests", "fuzz", "corpus", "measured", "prom.txt")

# The statuses of the command when nothing fails are kept too: a deadlock is status 1.
COMMANDS = [
    "run FILE",
    "run FILE --json",
    "run FILE --db out.db",
    "run FILE --jsonl out.jsonl",
    "run FILE --perfetto out.json",
    "run FILE --runs 3",
    "run FILE --explain",
    "run FILE --trace-ops",
    "run BAD",
    "whatif FILE --procs 1,2 --runs 2",
    "whatif FILE --procs 1,2 --runs 2 --json",
    "whatif FILE --procs 1,2 --runs 2 --db out.db",
    "inspect FILE --at 1ms",
    "inspect FILE --at 1ms --json",
    "query KEEP.db runs",
    "query KEEP.db latencies --json",
    "plot KEEP.db latency --out out.svg",
    "plot KEEP.db timeline --out out.svg",
    "scenarios check FILE --json",
    "scenarios show FILE --json",
    "scenarios gen-go FILE",
    "doctor",
    "run FILE --gotrace out.trace",
    "run BAD --waits-for out.svg",
    "run FILE --csv",
    "run FILE --host threads --until 5ms --json",
    "run NETWORK --host threads --json",
    "fit WRK",
    "fit PROM --json",
    "fit WRK --out out.json",
    "db list KEEP.db --json",
    "db check KEEP.db",
    "db rm COPY.db 2",
    "db vacuum COPY.db",
    "diff KEEP.db 1 2 --json",
    "plot KEEP.db histogram --out out.svg",
    "plot KEEP.db wakes --out out.dot",
    "plot KEEP.db whatif --out out.svg",
    "report KEEP.db --out out.html",
    "report TRACE --out out.html",
    "trace info TRACE --json",
    "trace info OLD",
    "trace info DEEP --db out.db",
    "trace export TRACE --perfetto out.json.gz",
    "trace export TRACE --csv out.csv --jsonl out.jsonl --schedtrace out.txt",
    "trace cut TRACE --from 1us --anonymize --out out.trace",
    "trace import DEEP --out out.json",
    "replay DEEP --procs 4 --json",
    "replay SCHEDULE --explain --out out",
    "replay SCHEDULE --trace-ops",
    "shrink SCHEDULE --out out.schedule",
    "explore KERNEL --runs 50 --out out --corpus corpus --junit out.xml --summary out.md",
    "explore KERNEL --runs 50 --json --expect finding",
    "explore FIXED --runs 10 --seeds 1-4 --jobs 2 --journal out.jsonl",
    "explore FIXED --runs 5 --procs 2 --strategy dpor,pct",
    "merge A.jsonl B.jsonl --db out.db",
    "merge A.jsonl B.jsonl --csv",
    "merge C.jsonl --into out.jsonl",
    "scenarios check FILE KERNEL --shard 1/1 --journal out.jsonl",
    "stress FILE --runs 2",
    "calibrate --samples 20 --out out.json",
    "LIBRARY",
]
KEPT = ("KEEP.db", "A.jsonl", "B.jsonl", "C.jsonl", "SCHEDULE")


MEASURED = ("doctor", "stress", "calibrate", "explore")


class Case:
    def __init__(self, options, line, folder):
        self.options, self.line, self.folder = options, line, folder
        words = line.split()
        program = options.library if line == "LIBRARY" else options.gmpsim
        self.argv = [os.path.abspath(program)] + [
            os.path.join(folder, w) if w in KEPT else globals()[w] if w.isupper() else w
            for w in words if w != "LIBRARY"]

    def run(self, name, **env):
        """In a folder of its own: status, output, complaints."""
        folder = os.path.join(self.folder, name)
        os.makedirs(folder)
        if "COPY.db" in self.line:
            shutil.copy(os.path.join(self.folder, "KEEP.db"), os.path.join(folder, "COPY.db"))
        full = dict(os.environ, LD_PRELOAD=self.options.shim, **env)
        try:
            p = subprocess.run(self.argv, cwd=folder, env=full, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
            return p.returncode, p.stdout, p.stderr.decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            return "hangs", b"", ""
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def calls(self, name):
        counts = os.path.join(self.folder, name + ".counts")
        self.good = self.run(name, GMPSIM_FAULT_COUNT=counts)
        with open(counts, encoding="ascii") as f:
            return {k: int(n) for k, n in (line.split() for line in f)}

    def judge(self, fault, result):
        """What is wrong, or None."""
        status, out, err = result
        if self.line == "LIBRARY":
            return None if status == 0 and out == b"alive\n" else f"the host ends with {status}"
        if status == self.good[0] or (self.line.startswith(MEASURED) and status in (0, 4)):
            if out == self.good[1] or not self.same_text():
                return None
            return "ends as if all were well, with another output"
        if status == 1 and b"failed to create new OS thread" in out:
            return None  # as the Go program would
        if status != 2:
            return f"status {status}"
        if not err.strip() and not re.search(rb"memory|limit", out):
            return "says nothing"
        if re.search(r"internal error|the simulator is wrong", err):
            return "blames itself"
        return None

    def same_text(self):
        """Is the output the same every time? Times of the machine and temporary names are not."""
        return not self.line.startswith(MEASURED) and "--host threads" not in self.line


def points(options, rng, count):
    if options.every or count <= options.points:
        return list(range(1, count + 1))
    return sorted(rng.sample(range(1, count + 1), options.points))


def prepare(gmpsim, folder):
    """What commands read that others wrote."""
    grid = ["whatif", FILE, "--procs", "1,2", "--runs", "2"]
    for status, args in (
            (0, ["run", FILE, "--db", "KEEP.db", "--runs", "2"]),
            (0, grid + ["--db", "KEEP.db"]),
            (0, grid + ["--shard", "1/2", "--journal", "A.jsonl"]),
            (0, grid + ["--shard", "2/2", "--journal", "B.jsonl"]),
            (0, ["explore", FIXED, "--runs", "10", "--shard", "1/1", "--journal", "C.jsonl"]),
            (1, ["explore", KERNEL, "--runs", "50", "--schedule", "SCHEDULE"])):
        done = subprocess.run([gmpsim] + args, cwd=folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        if done.returncode != status:
            sys.exit("%s: %d\n%s" % (args, done.returncode, done.stdout.decode()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gmpsim")
    parser.add_argument("shim")
    parser.add_argument("--library")
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--points", type=int, default=12)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    options.gmpsim = os.path.abspath(options.gmpsim)
    options.shim = os.path.abspath(options.shim)
    rng = random.Random(options.seed)
    lines = [c for c in COMMANDS if all(w in c for w in options.words)
             and (c != "LIBRARY" or options.library)]
    wrong = tried = 0
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        prepare(options.gmpsim, folder)
        for i, line in enumerate(lines):
            case = Case(options, line, folder)
            faults = []
            for kind, count in case.calls(f"{i}").items():
                if kind == "size":
                    faults += [f"size:{n - 1}" for n in points(options, rng, count)]
                    continue
                for n in points(options, rng, count):
                    faults += [f"{kind}:{n}"] + ([f"{kind}:{n}+"] if n % 3 == 0 else [])
            results = pool.map(lambda f: case.run(f"{i}-{f}", GMPSIM_FAULT=f), faults)
            for fault, result in zip(faults, results):
                tried += 1
                bad = case.judge(fault, result)
                if bad:
                    wrong += 1
                    said = result[2].strip().splitlines()
                    print(f"GMPSIM_FAULT={fault} gmpsim {line}: {bad}"
                          f" ({said[-1][:120] if said else 'no message'})")
    print(f"{tried} faults in {len(lines)} commands, {wrong} wrong")
    return 1 if wrong or tried < 20 * len(lines) else 0


if __name__ == "__main__":
    sys.exit(main())
