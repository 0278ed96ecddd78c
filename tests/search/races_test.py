#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each edge of Go's memory model orders what it should, and nothing else does: with the edge no
data race in any schedule, without it one in the first. Both granularities; the places are right."""
import json
import os
import subprocess
import sys
import tempfile

GMPSIM = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
# The same programs as races_test.c has: with the edge, and without it or null.
with open(os.path.join(HERE, "races.json"), encoding="utf-8") as file:
    EDGES = json.load(file)
PUT, GET = {"store": "x", "value": 1}, {"load": "x", "into": "v"}


def explore(folder, body, granularity):
    path = os.path.join(folder, "race.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"name": "race", "why": "a test", "procs": 2,
                   "expect": {"end": "finishes", "blocked": []}, **body}, f)
    done = subprocess.run([GMPSIM, "explore", path, "--json", "--runs", "60", "--granularity",
                           granularity, "--schedule", os.path.join(folder, "x.schedule")],
                          capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def check(folder, name, body, race, bad):
    for granularity in ("sync", "op"):
        got = explore(folder, body, granularity)
        found = got["finding"]["verdict"] if got["found"] else "nothing"
        if found != ("data race" if race else "nothing"):
            text = got.get("finding", {}).get("text", "")
            bad.append("%s, %s, %s: %s %s" % (name, "without it" if race else "with it",
                                              granularity, found, text))


def check_text(folder, bad):
    """Both places, and a pair of them once."""
    body = {"objects": {"x": "var"}, "funcs": {"f": [{"loop": 3, "do": [GET]}]},
            "main": [{"loop": 3, "do": [PUT]}, {"go": "f"}, {"loop": 3, "do": [PUT]},
                     {"sleep": "1ms"}]}
    text = explore(folder, body, "sync")["finding"]["text"].split("\n")
    for want in ("data race on x", "goroutine 1 writes in main at line 1", "reads in f at line 1"):
        if want not in text[0]:
            bad.append("%s is not in: %s" % (want, text[0]))
    if len(text) != 1:
        bad.append("one pair of places is said %d times" % len(text))


def main():
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        for edge in EDGES:
            if edge["with"] is not None:
                check(folder, edge["edge"], edge["with"], False, bad)
            if edge["without"] is not None:
                check(folder, edge["edge"], edge["without"], True, bad)
        check_text(folder, bad)
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
