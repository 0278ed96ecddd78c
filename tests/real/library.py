#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every scenario of the library on real threads: ends as expected, and prints what it should.

usage: library.py GMPSIM FILE_OR_FOLDER... [--procs N] [--slow] [--times N]

Where the machine decides who is first, a run may end otherwise now and then: a file has TRIES runs,
and one has to be as expected. What a wrong scheduler does, it does in each. A file with a quota has
to be refused with a sentence, or to run. With --times each file runs so many times, one after the
other on a machine of its own, and each run has to be as expected. Files of SLOW are those that take
more than two seconds of a machine of their own; they are run with --slow, alone.
"""
import concurrent.futures
import glob
import json
import os
import subprocess
import sys

TRIES = 6
SLOW = {"million-goroutines", "all-busy-at-once", "busy-ten-milliseconds", "sleeps-when-idle",
        "closed-loop", "hot-goroutine-migrates"}
FIELDS = ("verdict", "host", "makespan_ns", "counters", "spans", "p_ns", "output", "repeat")


def run(gmpsim, path, procs):
    command = [gmpsim, "run", "--host", "threads", "--json", path]
    if procs:
        command += ["--procs", procs]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)


def wrong(done, path, procs):
    """None, or what is wrong with a run."""
    if done.returncode == 2 and "cgroup" in done.stderr:
        return None
    if done.returncode not in (0, 1):
        return "exit status %d: %s" % (done.returncode, done.stderr[-2000:])
    report = json.loads(done.stdout)
    missing = [f for f in FIELDS if f not in report]
    if missing or report["host"] != "threads" or "--host threads" not in report["repeat"]:
        return "the report lacks %s" % (missing or "its host")
    if procs:
        return None  # the file says nothing about other settings
    return None if done.returncode == 0 else "%s: %s" % (report["verdict"], report["complaints"])


def check(gmpsim, path, procs):
    tries = []
    for _ in range(TRIES):
        why = wrong(run(gmpsim, path, procs), path, procs)
        if why is None:
            return None
        tries.append(why)
        if why.startswith("exit status"):
            break  # never legal
    return "%s: %s" % (path, "\n  ".join(tries))


def check_all(gmpsim, path, procs, times):
    bad = [w for w in (wrong(run(gmpsim, path, procs), path, procs) for _ in range(times)) if w]
    return "%s: %d of %d: %s" % (path, len(bad), times, bad[0]) if bad else None


def take(args, name):
    """The value of an option, taken out of args; None."""
    if name not in args:
        return None
    at = args.index(name)
    args.pop(at)
    return args.pop(at)


def main():
    args = sys.argv[1:]
    slow = "--slow" in args
    args = [a for a in args if a != "--slow"]
    procs, times = take(args, "--procs"), int(take(args, "--times") or 0)
    gmpsim, paths = args[0], []
    for a in args[1:]:
        paths += sorted(glob.glob(a + "/*.json")) if os.path.isdir(a) else [a]
    paths = [p for p in paths if (os.path.basename(p)[:-5] in SLOW) == slow]
    if not paths:
        sys.exit("library.py: no scenarios")
    def look(path):
        return check_all(gmpsim, path, procs, times) if times else check(gmpsim, path, procs)

    with concurrent.futures.ThreadPoolExecutor(1 if times else 2) as pool:
        bad = [b for b in pool.map(look, paths) if b]
    for b in bad:
        print(b)
    print("%d scenarios on real threads, %d not as expected" % (len(paths), len(bad)))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
