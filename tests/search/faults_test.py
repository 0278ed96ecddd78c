#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What each fault of explore finds is found with it, the schedule repeats, and without it nothing
is; as an option, and as a member of the file. What is no fault is refused, with its place in a
file."""
import json
import os
import subprocess
import sys
import tempfile

GMPSIM = os.path.abspath(sys.argv[1])
LATE = {"select": [{"recv": "t", "do": [{"panic": "late"}]}, {"default": []}]}

# The one who asked has gone, and the answer is sent to nobody.
CALL = {"objects": {"c": "chan"}, "main": [
    {"go": [{"syscall": "1ms"}, {"send": "c", "value": 1}]},
    {"after": "5s", "into": "t"},
    {"select": [{"recv": "c"}, {"recv": "t"}]},
    {"sleep": "60s"}]}
LOOP = {"procs": 1, "main": [
    {"go": [{"cpu": "400ms", "kind": "tight"}]},
    {"after": "100ms", "into": "t"}, {"sleep": "1ms"}, LATE]}
SLEEPER = {"procs": 1, "main": [{"after": "10ms", "into": "t"}, {"sleep": "1ms"}, LATE]}
SUM = {"procs": 3, "objects": {"c": "chan"}, "main": [
    {"loop": 6, "do": [{"go": [{"send": "c", "value": 1}]}]},
    {"loop": 6, "do": [{"recv": "c"}]}]}
PARK = ["--memory", "arm64", "--runs", "5000"]

# fault, program, granularities, what is found, further options
CASES = [
    ("syscall=10s", CALL, ["sync", "op"], "leak", []),
    ("clock=10s", CALL, ["sync", "op"], "leak", []),
    ("alloc", CALL, ["sync", "op"], "fatal error", []),
    ("signal=200ms", LOOP, ["op"], "panic", ["--late", "0"]),
    ("late", SLEEPER, ["op"], "panic", ["--late", "0"]),
    ("weaken:runqput:store_rel", SUM, ["op"], "broken rule", PARK),
]


def explore(folder, program, options):
    path = os.path.join(folder, "x.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"name": "x", "why": "a test", **program}, f)
    return subprocess.run(
        [GMPSIM, "explore", path, "--strategy", "random", "--runs", "500", "--json", *options,
         "--schedule", os.path.join(folder, "x.schedule")],
        capture_output=True, text=True, check=False)


def check(fault, program, granularity, found, options, folder):
    options = ["--granularity", granularity, *options]
    done = explore(folder, program, [*options, "--runs", "500"])
    assert done.returncode == 0, (fault, "found without it", done.stdout, done.stderr)
    for how in ("option", "file"):
        faulty = dict(program, faults=[fault]) if how == "file" else program
        more = ["--faults", fault] if how == "option" else []
        done = explore(folder, faulty, [*options, *more])
        assert done.returncode == 1, (fault, granularity, how, done.stdout, done.stderr)
        finding = json.loads(done.stdout)["finding"]
        assert finding["verdict"] == found, (fault, finding["verdict"])
        again = subprocess.run([GMPSIM, "replay", os.path.join(folder, "x.schedule")],
                               capture_output=True, text=True, check=False)
        assert again.returncode == 1, (fault, again.stdout, again.stderr)


def refused(folder):
    for text, words in {
        "spurios": "want spurious", "syscall=": "such as 10ms", "alloc=1s": "has no length",
        "clock=-1s": "such as 10ms", "most=0": "1 to 1000", "weaken:runqput": "FUNCTION:VERB",
        "weaken:nobody:load": "nobody of the runtime has no load", "clock,,alloc": "missing",
        "a" * 300: "too long", "most=1x": "1 to 1000",
        ",".join(["weaken:runqput:store_rel"] * 9): "more than 8",
    }.items():
        done = explore(folder, SLEEPER, ["--faults", text])
        assert done.returncode == 2 and words in done.stderr, (text, done.returncode, done.stderr)
    done = explore(folder, dict(SLEEPER, faults=["late", "sloth"]), [])
    assert done.returncode == 2 and "x.json:1:" in done.stderr and "sloth" in done.stderr, done
    done = explore(folder, dict(SLEEPER, faults="late"), [])
    assert done.returncode == 2 and "x.json:1:" in done.stderr, done.stderr


def most(folder):
    """Two must come together."""
    program = {"objects": {"c": "chan"}, "main": [
        {"go": [{"syscall": "1ms"}, {"syscall": "1ms"}, {"send": "c", "value": 1}]},
        {"after": "15s", "into": "t"},
        {"select": [{"recv": "c"}, {"recv": "t"}]}, {"sleep": "60s"}]}
    options = ["--granularity", "sync", "--faults"]
    assert explore(folder, program, [*options, "syscall=10s"]).returncode == 0
    assert explore(folder, program, [*options, "syscall=10s,most=2", "--runs", "3000"]
                   ).returncode == 1


def sanitized():
    with open(GMPSIM, "rb") as f:
        return b"__asan_init" in f.read()


def main():
    with tempfile.TemporaryDirectory() as folder:
        for fault, program, granularities, found, options in CASES:
            if found == "broken rule" and sanitized():
                continue  # the sanitizer ends the process at a wild pointer
            for granularity in granularities:
                check(fault, program, granularity, found, options, folder)
        refused(folder)
        most(folder)
    print("%d faults" % len(CASES))


main()
