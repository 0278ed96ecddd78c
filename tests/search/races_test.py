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
PUT, GET = {"store": "x", "value": 1}, {"load": "x", "into": "v"}
NAP = {"sleep": "1ms"}


def case(objects, main, **funcs):
    return {"objects": dict(objects, x="var"), "main": main, "funcs": funcs}


def recv(c, **more):
    return {"recv": c, **more}


def send(c):
    return {"send": c, "value": 1}


def lock(m):
    return {"lock": m}


def unlock(m):
    return {"unlock": m}


# name: (program without a race, the same with one or None)
EDGES = {
    "go statement": (case({}, [PUT, {"go": "f"}, NAP], f=[GET]),
                     case({}, [{"go": "f"}, PUT, NAP], f=[GET])),
    "the end of a goroutine orders nothing": (None, case({}, [{"go": "f"}, NAP, GET], f=[PUT])),
    "a sleep orders nothing": (None, case({}, [{"go": "f"}, {"sleep": "1s"}, GET], f=[PUT])),
    "a print orders nothing": (
        None, case({}, [{"go": "f"}, NAP, {"print": "b"}, GET], f=[PUT, {"print": "a"}])),
    "send before receive": (case({"c": "chan"}, [{"go": "f"}, recv("c"), GET], f=[PUT, send("c")]),
                            case({"c": "chan"}, [{"go": "f"}, recv("c"), GET], f=[send("c"), PUT])),
    "receive before the send's end": (
        case({"c": "chan"}, [{"go": "f"}, send("c"), GET], f=[PUT, recv("c")]),
        case({"c": {"chan": 1}}, [{"go": "f"}, send("c"), GET], f=[PUT, recv("c")])),
    "k-th receive before the send k + C": (
        case({"c": {"chan": 1}}, [{"go": "f"}, send("c"), send("c"), GET], f=[PUT, recv("c")]),
        case({"c": {"chan": 2}}, [{"go": "f"}, send("c"), send("c"), GET], f=[PUT, recv("c")])),
    "close before the receive of it": (
        case({"c": "chan"}, [{"go": "f"}, recv("c"), GET], f=[PUT, {"close": "c"}]),
        case({"c": "chan"}, [{"go": "f"}, recv("c"), GET], f=[{"close": "c"}, PUT])),
    "select": (
        case({"c": "chan", "d": "chan"},
             [{"go": "f"}, {"select": [{"recv": "c"}, {"recv": "d"}]}, GET], f=[PUT, send("d")]),
        None),
    "mutex": (case({"m": "mutex"}, [{"go": "f"}, lock("m"), GET, unlock("m"), NAP],
                   f=[lock("m"), PUT, unlock("m")]),
              case({"m": "mutex"}, [{"go": "f"}, lock("m"), unlock("m"), GET, NAP],
                   f=[PUT, lock("m"), unlock("m")])),
    "two mutexes": (None, case({"m": "mutex", "n": "mutex"},
                               [{"go": "f"}, lock("m"), GET, unlock("m"), NAP],
                               f=[lock("n"), PUT, unlock("n")])),
    "readers and a writer": (
        case({"m": "rwmutex"}, [{"go": "f"}, {"rlock": "m"}, GET, {"runlock": "m"}, NAP],
             f=[lock("m"), PUT, unlock("m")]),
        case({"m": "rwmutex"}, [{"go": "f"}, {"rlock": "m"}, GET, {"runlock": "m"}, NAP],
             f=[{"rlock": "m"}, PUT, {"runlock": "m"}])),
    "wait group": (
        case({"w": "waitgroup"}, [{"add": "w"}, {"go": "f"}, {"wait": "w"}, GET],
             f=[PUT, {"done": "w"}]),
        case({"w": "waitgroup"}, [{"add": "w"}, {"go": "f"}, {"wait": "w"}, GET, NAP],
             f=[{"done": "w"}, PUT])),
    "once": (
        case({"o": "once", "w": "waitgroup"},
             [{"add": "w"}, {"go": "f"}, {"once": "o", "do": "init"}, GET, {"wait": "w"}],
             f=[{"once": "o", "do": "init"}, GET, {"done": "w"}], init=[PUT]), None),
    "atomics": (
        case({"a": "var"},
             [{"go": "f"}, {"load": "a", "into": "s", "atomic": True},
              {"if": "s == 1", "then": [GET]}, NAP],
             f=[PUT, {"store": "a", "value": 1, "atomic": True}]),
        case({"a": "var"},
             [{"go": "f"}, {"load": "a", "into": "s", "atomic": True}, GET, NAP],
             f=[PUT, {"store": "a", "value": 1, "atomic": True}])),
    "all accesses atomic": (
        case({}, [{"go": "f"}, {"load": "x", "into": "v", "atomic": True}, NAP],
             f=[{"atomic_add": "x"}]),
        case({}, [{"go": "f"}, {"load": "x", "into": "v"}, NAP], f=[{"atomic_add": "x"}])),
    "two reads": (case({}, [{"go": "f"}, GET, NAP], f=[GET]), None),
    "signal before the wait that it ends": (
        case({"m": "mutex", "q": {"cond": "m"}},
             [lock("m"), {"go": "f"}, {"wait": "q"}, GET, unlock("m")],
             f=[lock("m"), unlock("m"), PUT, {"signal": "q"}]), None),
    "after_func": (case({}, [PUT, {"after_func": "f", "after": "1ms"}, {"sleep": "1s"}], f=[GET]),
                   case({}, [{"after_func": "f", "after": "1ms"}, PUT, {"sleep": "1s"}], f=[GET])),
    "a timer's channel": (
        case({"c": "chan"}, [{"go": "f"}, recv("c"), GET], f=[PUT, {"after": "1ms", "into": "t"},
                                                            recv("t"), send("c")]), None),
    "context": (
        case({}, [{"context": "ctx"}, {"go": "f", "args": ["ctx"]}, recv("ctx.Done"), GET],
             f={"params": ["k"], "do": [PUT, {"cancel": "k"}]}), None),
    "semaphore": (
        case({"s": {"semaphore": 1}}, [{"go": "f"}, {"acquire": "s"}, GET, {"release": "s"}, NAP],
             f=[{"acquire": "s"}, PUT, {"release": "s"}]), None),
}


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
    body = case({}, [{"loop": 3, "do": [PUT]}, {"go": "f"}, {"loop": 3, "do": [PUT]}, NAP],
                f=[{"loop": 3, "do": [GET]}])
    text = explore(folder, body, "sync")["finding"]["text"].split("\n")
    for want in ("data race on x", "goroutine 1 writes in main at line 1", "reads in f at line 1"):
        if want not in text[0]:
            bad.append("%s is not in: %s" % (want, text[0]))
    if len(text) != 1:
        bad.append("one pair of places is said %d times" % len(text))


def main():
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (good, wrong) in EDGES.items():
            if good is not None:
                check(folder, name, good, False, bad)
            if wrong is not None:
                check(folder, name, wrong, True, bad)
        check_text(folder, bad)
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
