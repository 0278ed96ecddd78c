#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: whatever the system refuses, the command ends with status 2 and a sentence, or did all of
its work. Method: a preloaded library makes the n-th call of a kind fail; n is a seeded sample of
all calls that the command makes, or every one.

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
BAD = os.path.join(HERE, "bad.json")

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
    "LIBRARY",
]
KINDS = ["malloc", "map", "process", "write", "sync", "open"]


class Case:
    def __init__(self, options, line, folder):
        self.options, self.line, self.folder = options, line, folder
        words = line.split()
        program = options.library if line == "LIBRARY" else options.gmpsim
        self.argv = [os.path.abspath(program)] + [
            {"FILE": FILE, "BAD": BAD, "KEEP.db": os.path.join(folder, "keep.db")}.get(w, w)
            for w in words if w != "LIBRARY"]

    def run(self, name, **env):
        """In a folder of its own: status, output, complaints."""
        folder = os.path.join(self.folder, name)
        os.makedirs(folder)
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
        if status == self.good[0]:
            if out == self.good[1] or not self.same_text():
                return None
            return "ends as if all were well, with another output"
        if status != 2:
            return f"status {status}"
        if not err.strip() and not re.search(rb"memory|limit", out):
            return "says nothing"
        if re.search(r"internal error|the simulator is wrong", err):
            return "blames itself"
        return None

    def same_text(self):
        """Is the output the same every time? Times of the machine and temporary names are not."""
        return not self.line.startswith("doctor")


def points(options, rng, count):
    if options.every or count <= options.points:
        return list(range(1, count + 1))
    return sorted(rng.sample(range(1, count + 1), options.points))


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
        keep = os.path.join(folder, "keep.db")
        subprocess.run([options.gmpsim, "run", FILE, "--db", keep], check=True,
                       stdout=subprocess.DEVNULL)
        for i, line in enumerate(lines):
            case = Case(options, line, folder)
            faults = []
            for kind, count in case.calls(f"{i}").items():
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
