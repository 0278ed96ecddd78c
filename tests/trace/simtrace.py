#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: a run that is written as a Go trace says the same as the run.

usage: simtrace.py GMPSIM

Method: scenarios of every sort on several releases, written by run --gotrace and read back as
strictly as Go reads: who was created and ended, every span a task, the sums of time.
"""
import json
import os
import subprocess
import sys
import tempfile

SCENARIOS = ["everyday/worker-pool", "everyday/pipeline", "history/tight-loops-stop-gc",
             "history/collector-burns-the-quota"]
bad = 0


def check(what, got, want):
    global bad
    if got != want:
        bad += 1
        print("%s: %s, want %s" % (what, got, want))


def near(what, got, want, room):
    if abs(got - want) > room:
        check(what, got, want)


def compare(name, release, path):
    what = "%s on %s" % (name, release)
    run = subprocess.run([sys.argv[1], "run", "scenarios/%s.json" % name, "--profile", release,
                          "--json", "--gotrace", path], stdout=subprocess.PIPE)
    want = json.loads(run.stdout)
    read = subprocess.run([sys.argv[1], "trace", "info", path, "--strict", "--json"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(what + ": " + read.stderr.decode(), read.returncode, 0)
    if read.returncode != 0:
        return
    got = json.loads(read.stdout)
    groups = want["groups"].values()
    check(what + ": goroutines", got["num_goroutines"], sum(g["created"] for g in groups))
    changes = got["g_transitions"]
    check(what + ": ended", changes.get("Running->NotExist", 0), sum(g["ended"] for g in groups))
    check(what + ": tasks", sum(t["took"]["n"] for t in got["tasks"]),
          sum(s["count"] for s in want["spans"].values()))
    near(what + ": makespan", got["duration_ns"], want["makespan_ns"], 2000)
    sums = sum(g["running_ns"] for g in groups)
    near(what + ": running", got["totals"]["running_ns"], sums, 0.01 * sums + 20000)


def main():
    with tempfile.TemporaryDirectory() as tmp:
        for name in SCENARIOS:
            for release in ("go1.14", "go1.22", "go1.27"):
                compare(name, release, os.path.join(tmp, "run.trace"))
    print("%d wrong" % bad)
    sys.exit(1 if bad else 0)


main()
