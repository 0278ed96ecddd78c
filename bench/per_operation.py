#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What one operation of bench_real_switch takes beside the same one of real Go, at one P: locked
instructions, calls, instructions, and bytes read and written. No clock is asked; where a slice
ends in the middle of a burst of goroutines the numbers vary all the same.

    bench/per_operation.py [--go GO]... [--ops N] [--where CASE] [BENCH_REAL_SWITCH] [CASE...]

Each program runs under valgrind with N operations and with twice as many; the difference is that
of N operations, without what starting takes. callgrind counts how often each instruction ran,
objdump says which of them are locked or calls, lackey counts bytes. --where CASE lists where the
locked ones are. Needs valgrind and objdump, and Go for its half.

Go is told not to preempt by signals, which callgrind does not bear. What the threads burn in the
steal storm is calibrated by time, so its instructions say nothing."""
import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

CASES = ["pingpong", "gosched_2", "gosched_100", "spawn_exit", "fanout_1e4", "worker_pool",
         "mutex_handoff", "sleep_storm_1e4", "steal_storm"]
ROUND = 20000  # whole bursts of goroutines in every program
GO_EXTRA = 1.1  # bench.go does a tenth more to begin with
COUNTS = ["locked", "calls", "instructions", "bytes"]
TYPE = re.compile(r"I(\d+)|F(\d+)|V(\d+)")


def output(command):
    environment = dict(os.environ, GODEBUG="asyncpreemptoff=1")
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        sys.exit("%s\n%s" % (" ".join(command), done.stderr[-2000:]))
    return done.stdout, done.stderr


class Code:
    """The locked instructions and the calls of the objects that a program consists of."""

    def __init__(self):
        self.objects = {}

    def of(self, path):
        if path not in self.objects:
            self.objects[path] = self.read(path) if os.path.exists(path) else ({}, set())
        return self.objects[path]

    @staticmethod
    def read(path):
        locked, calls, function = {}, set(), "?"
        for line in output(["objdump", "-d", "--no-show-raw-insn", path])[0].splitlines():
            head = re.match(r"[0-9a-f]+ <(.*)>:$", line)
            insn = re.match(r" *([0-9a-f]+):\t(.*)$", line)
            if head:
                function = head.group(1)
            if not insn:
                continue
            at, text = int(insn.group(1), 16), insn.group(2)
            # An exchange with memory is locked without saying so.
            if text.startswith("lock ") or re.match(r"xchg[bwlq]? .*\(", text):
                locked[at] = function + ": " + " ".join(text.split())
            if text.startswith("call"):
                calls.add(at)
        return locked, calls


def executed(command):
    """How often each instruction ran: {(object, address): times}."""
    ran, inclusive, of = collections.Counter(), False, ""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        output(["valgrind", "--tool=callgrind", "--dump-instr=yes", "--compress-pos=no",
                "--compress-strings=no", "--callgrind-out-file=" + out] + command)
        with open(out, encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("ob="):
                    of = line[3:].strip()
                elif line.startswith("calls="):
                    inclusive = True  # the next line is what the callee took
                elif line.startswith("0x"):
                    words = line.split()
                    if not inclusive and len(words) > 2:
                        ran[of, int(words[0], 16)] += int(words[2])
                    inclusive = False
    return ran


def moved(command):
    """Bytes read and written."""
    total = 0
    text = output(["valgrind", "--tool=lackey", "--basic-counts=no", "--detailed-counts=yes"] +
                  command)[1]
    for line in text.splitlines():
        row = re.match(r"==\d+== +([IFVD]\w+) +([\d,]+) +([\d,]+) ", line)
        width = TYPE.match(row.group(1)) if row else None
        if width:
            size = max(int(next(g for g in width.groups() if g)) // 8, 1)
            total += size * sum(int(row.group(i).replace(",", "")) for i in (2, 3))
    return total


def per_operation(code, command, ops):
    """command(ops) runs so many. Gives the counts and where the locked ones are."""
    once, twice = executed(command(ops)), executed(command(2 * ops))
    sums, where = collections.Counter(), collections.Counter()
    for (path, at), times in twice.items():
        each = (times - once[path, at]) / ops
        locked, calls = code.of(path)
        sums["instructions"] += each
        sums["calls"] += each * (at in calls)
        if at in locked:
            sums["locked"] += each
            where[locked[at]] += each
    sums["bytes"] = (moved(command(2 * ops)) - moved(command(ops))) / ops
    return sums, where


def sources(options, folder):
    """(name, case -> ops -> command): the threads, then each Go."""
    yield "threads", lambda case: lambda ops: [options.bench, "-ops", str(ops), case]
    gos = dict(os.environ, GO=":".join(options.go)) if options.go else None
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "go", "run.sh")
    built = subprocess.run([script, "-build", folder], capture_output=True, text=True, env=gos,
                           check=True).stdout
    for line in built.splitlines():
        if line.startswith("built "):
            _, version, program = line.split()
            yield version, lambda case, program=program: lambda ops: [
                program, "-procs", "1", "-reps", "1", "-ops", str(round(ops / GO_EXTRA)), case]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--go", action="append", help="a Go; default: the newest and 1.23")
    parser.add_argument("--ops", type=int, default=ROUND)
    parser.add_argument("--where", help="lists the locked instructions of this case")
    parser.add_argument("bench", nargs="?", default="build/release/bin/bench_real_switch")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    options = parser.parse_args()
    for tool in ("valgrind", "objdump"):
        if not shutil.which(tool):
            sys.exit("per_operation.py: %s is not installed" % tool)
    code, cases = Code(), [options.where] if options.where else options.cases or CASES
    with tempfile.TemporaryDirectory() as folder:
        all_sources = list(sources(options, folder))
        print("| per operation | " + " | ".join("%s: %s" % (n, c) for c in COUNTS
                                                for n, _ in all_sources) + " |")
        print("|---" * (1 + len(COUNTS) * len(all_sources)) + "|")
        for case in cases:
            taken = [per_operation(code, of(case), options.ops) for _, of in all_sources]
            cells = ["%.1f" % sums[c] if c == "locked" else "%.0f" % sums[c]
                     for c in COUNTS for sums, _ in taken]
            print("| %s | " % case + " | ".join(cells) + " |", flush=True)
            for (name, _), (_, where) in zip(all_sources, taken) if options.where else []:
                print("\n" + name)
                for text, each in where.most_common():
                    if each > 0.01:
                        print("%8.2f  %s" % (each, text))


if __name__ == "__main__":
    main()
