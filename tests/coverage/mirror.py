#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Does the test that model/MIRROR.tsv names for a function enter it?

usage: mirror.py ROOT BUILD CC CXX

Builds the tests in BUILD with a hook at the beginning of every function (hook.c), runs
each named test by itself, and prints the rows whose function it did not enter.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys

# Programs whose cases MIRROR.tsv may name; not those on real threads, which enter something else
# each time.
PROGRAMS = ["model_test", "model_rules_test", "model_edges_test", "model_explore_test",
            "golden_test", "timer_heap_test", "timer_explore_test", "explore_runq_test",
            "explore_core_test", "breakdown_test", "run_test", "search_test", "scenarios_test"]
FLAGS = "-O0 -g1 -fPIE -finstrument-functions"


def build(root, folder, cc, cxx):
    folder.mkdir(parents=True, exist_ok=True)
    hook = folder / "hook.o"
    subprocess.run([cc, "-O2", "-fPIE", "-c", root / "tests/coverage/hook.c", "-o", hook],
                   check=True)
    subprocess.run(["cmake", "-S", root, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                    "-DCMAKE_C_COMPILER=" + cc, "-DCMAKE_CXX_COMPILER=" + cxx,
                    "-DCMAKE_C_FLAGS=" + FLAGS, "-DCMAKE_CXX_FLAGS=-fPIE",
                    "-DCMAKE_EXE_LINKER_FLAGS=-pie %s" % hook],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--target", "gmpsim", *PROGRAMS],
                   check=True, stdout=subprocess.DEVNULL)


def cases_of(program):
    """Suite.Name of every case."""
    out = subprocess.run([program, "--gtest_list_tests"], capture_output=True, text=True,
                         check=True).stdout
    suite = ""
    for line in out.splitlines():
        if re.match(r"\w+\.", line):
            suite = line.split()[0]
        elif line.startswith("  "):
            yield suite + line.split()[0]


def cases_by_name(root, programs_folder, programs):
    """What a row may call a test -> the cases that are meant: Suite.Name, the name of a golden
    program, a suite, a file of tests, or a script that is given gmpsim."""
    named = collections.defaultdict(set)
    for program in programs:
        for case in cases_of(program):
            suite, name = case.split(".", 1)
            for alias in (case, suite, name if suite == "Golden" else case):
                named[alias].add((program, case))
    for path in root.glob("tests/**/*_test.c"):
        for suite, name in re.findall(r"TEST_CASE\((\w+),\s*(\w+)\)", path.read_text()):
            for alias in (path.name, path.stem):
                named[alias] |= named.get(suite + "." + name, set())
    for path in root.glob("tests/**/*_test.py"):
        named[path.stem].add((str(programs_folder / "gmpsim"), str(path)))
    return named


class Entered:
    """The functions of the model that a case enters, each case run once."""

    def __init__(self, folder):
        self.out = folder / "entered"
        self.names = {}  # program -> address -> function of the model
        self.cases = {}

    def names_of(self, program):
        if program not in self.names:
            symbols = subprocess.run(["nm", "--defined-only", program], capture_output=True,
                                     text=True, check=True).stdout.split("\n")
            at = [s.split()[0] for s in symbols if len(s.split()) == 3 and s.split()[1] in "tT"]
            lines = subprocess.run(["addr2line", "-f", "-e", program], input="\n".join(at),
                                   capture_output=True, text=True, check=True).stdout.splitlines()
            self.names[program] = {
                int(a, 16): f for a, f, where in zip(at, lines[::2], lines[1::2])
                if re.search(r"(?<!tests)/model/\w+\.[ch]:", where)}
        return self.names[program]

    def of(self, program, case):
        if (program, case) not in self.cases:
            self.out.write_text("")
            command = [program, "--gtest_filter=" + case]
            if case.endswith(".py"):
                command = [sys.executable, case, program]
            subprocess.run(command, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, timeout=600, check=False,
                           env=dict(os.environ, COVERAGE_OUT=str(self.out)))
            names = self.names_of(program)
            self.cases[program, case] = {
                names[int(a, 16)] for a in self.out.read_text().split() if int(a, 16) in names}
        return self.cases[program, case]


def rows_of(root):
    for line in (root / "model/MIRROR.tsv").read_text().splitlines()[1:]:
        cells = line.split("\t")
        if len(cells) == 6 and not line.startswith("#"):
            yield cells[0], re.split(r"[ ,]+", cells[5].strip())


def main():
    root, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    build(root, folder, *sys.argv[3:5])
    programs = [str(folder / "bin" / p) for p in PROGRAMS]
    named, entered = cases_by_name(root, folder / "bin", programs), Entered(folder)
    bad = total = 0
    for function, tests in rows_of(root):
        total += 1
        for test in tests:
            if not any(function in entered.of(*case) for case in sorted(named[test])):
                print("%s does not enter %s" % (test, function), flush=True)
                bad += 1
    print("%d functions, %d not entered by the test that is named" % (total, bad))
    sys.exit(1 if bad or total == 0 else 0)


if __name__ == "__main__":
    main()
