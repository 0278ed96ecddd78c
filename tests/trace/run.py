#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: a recorded trace is a run of the store like a simulated one.

usage: run.py GMPSIM

Method: every recording of the corpus goes into one store. What the store says of it is compared
with what trace info counts on its own way (and info.py compares that with Go's reader): times by
state to the nanosecond, waits, goroutines, spans; the parts of a span's time add up to it; the
store's own check complains of nothing; the parts of a known trace (made by a simulated run,
whose report is known) are those of the run. Broken traces leave no run behind. Commands that take
a store take a trace.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
GMPSIM = os.path.abspath(sys.argv[1])
bad = 0


def check(what, got, want):
    global bad
    if got != want:
        bad += 1
        print("%s: %s, want %s" % (what, str(got)[:300], str(want)[:300]))


def run(*args, status=0):
    p = subprocess.run([GMPSIM, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check("gmpsim " + " ".join(args) + ": " + p.stderr.decode()[-300:], p.returncode, status)
    return p.stdout.decode() if status < 2 else p.stderr.decode()


def rows(db, sql):
    return [line.split("\t") for line in run("query", db, sql).splitlines()]


def number(db, sql):
    return int(rows(db, sql)[0][0] or 0)


def check_parts(name, spans):
    for span, s in spans.items():
        if s["count"] == 0:
            continue
        parts, count = s["parts"], s["count"]
        if not abs(sum(parts.values()) - s["mean"]) <= len(parts) + 1:
            check("%s: parts of %s" % (name, span), sum(parts.values()), s["mean"])
        slow = s["slow"]
        if not 1 <= slow["count"] <= count or sum(slow["parts"].values()) > s["max"]:
            check("%s: slow parts of %s" % (name, span), slow, s["max"])


def check_run(path, db, i):
    name = os.path.basename(path)
    info = json.loads(run("trace", "info", path, "--db", db, "--json"))
    state = dict(rows(db, "SELECT from_state, sum(duration_ns) FROM g_transitions WHERE run = %d"
                          " GROUP BY from_state" % i))
    for key in ("running", "runnable", "waiting", "syscall"):
        check("%s: %s" % (name, key), int(state.get(key, 0)), info["totals"][key + "_ns"])
    check(name + ": makespan", number(db, "SELECT makespan_ns FROM runs WHERE id = %d" % i),
          info["trace_end_ns"] - info["trace_start_ns"])
    check(name + ": host", rows(db, "SELECT host, verdict, complete FROM runs WHERE id = %d" % i),
          [["recorded", "recorded", "1"]])
    check(name + ": goroutines", number(db, "SELECT count(*) FROM goroutines WHERE run = %d" % i),
          info["num_goroutines"])
    for g in info["goroutines"][:50]:
        got = rows(db, "SELECT sum(duration_ns) FROM g_transitions WHERE run = %d AND g = %d"
                       " AND from_state = 'running'" % (i, g["id"]))
        check("%s: goroutine %d" % (name, g["id"]), int(got[0][0] or 0), g["running_ns"])
    for metric, n in info["metrics"].items():
        check("%s: %s" % (name, metric),
              number(db, "SELECT count(*) FROM metrics WHERE run = %d AND name = '%s'"
                     % (i, metric)), n)
    groups = rows(db, "SELECT sum(running_ns), sum(count), sum(total_ns > 0 AND transitions < 1)"
                      " FROM goroutine_groups WHERE run = %d" % i)[0]
    check(name + ": groups", [int(groups[0]), int(groups[1]), int(groups[2])],
          [info["totals"]["running_ns"], info["num_goroutines"], 0])
    waits = number(db, "SELECT sum(count) FROM latencies WHERE run = %d AND kind = 'wait'" % i)
    check(name + ": waits", waits, info["sched_latency"]["n"])
    for kind in ("regions", "tasks"):
        for n in info[kind]:
            span = info["spans"].get(n["name"])
            check("%s: %s" % (name, n["name"]),
                  [span["count"], span.get("p50"), span.get("max"), span["open"]],
                  [n["took"]["n"], n["took"].get("p50_ns"), n["took"].get("max_ns"), n["open"]])
    check_parts(name, info["spans"])


def check_known(tmp):
    """A simulated run, exported as a trace and read back, has the spans of the run, and of them
    the parts that a trace can know."""
    service = os.path.join(ROOT, "scenarios", "everyday", "http-service.json")
    trace = os.path.join(tmp, "known.trace")
    report = json.loads(run("run", service, "--until", "300ms", "--json", "--gotrace", trace,
                            status=1)) # it expects more requests
    info = json.loads(run("trace", "info", trace, "--json"))
    for name, span in report["spans"].items():
        got = info["spans"][name]
        check(name + ": count", got["count"], span["count"])
        # A trace has no word for what waited before somebody took it up.
        late = "before it was taken up" in span["parts"]
        for p in () if late else ("p50", "p99", "max"):
            if abs(got[p] - span[p]) > span[p] / 100 + 1000:
                check("%s: %s" % (name, p), got[p], span[p])
        for part in ("running", "lock"):
            a, b = got["parts"].get(part, 0), span["parts"].get(part, 0)
            if abs(a - b) > span["mean"] / 20:
                check("%s: %s" % (name, part), a, b)


def check_broken(tmp):
    with open(os.path.join(HERE, "recorded", "mutex-go22.trace"), "rb") as f:
        whole = f.read()
    db, path = os.path.join(tmp, "broken.db"), os.path.join(tmp, "broken.trace")
    with open(path, "wb") as f:
        f.write(whole[:len(whole) // 2] + b"\xff" * 64 + whole[len(whole) // 2:])
    said = run("trace", "info", path, "--db", db, status=2)
    if "byte " not in said and "offset" not in said:
        check("a broken trace", said, "where it is broken")
    if os.path.exists(db):
        check("runs of a broken trace",
              number(db, "SELECT count(*) FROM runs WHERE complete = 1"), 0)


def check_commands(tmp):
    path = os.path.join(HERE, "recorded", "features-go26.trace.zst")
    with open(os.devnull, "wb") as null:
        has_gnuplot = subprocess.call(["sh", "-c", "command -v gnuplot"], stdout=null) == 0
    for picture in ("latency", "runq", "utilisation", "timeline"):
        out = os.path.join(tmp, picture + ".svg")
        run("plot", path, picture, "--out", out, status=0 if has_gnuplot else 2)
        with open(out[:-3] + "dat") as f:
            data = f.read()
        check(picture + " has data", len(data) > 100, True)
        with open(out[:-3] + "gp") as f:
            check(picture + " says what it is", "recorded, go1.26 trace" in f.read(), True)
    page = os.path.join(tmp, "page.html")
    run("report", path, "--out", page)
    with open(page) as f:
        check("the page", '"recorded"' in f.read(), True)
    check("goroutines of main", run("query", path, "SELECT count(*) FROM goroutines WHERE name ="
                                                   " 'main.main'").strip(), "1")
    words = run("trace", "info", path, "--explain", "g1")
    check("explained", "waits: sync, main.tasks, main.go:72; woken by g7 (main.tasks.func1)"
          in words, True)
    check("the slowest request", "the slowest request: " in
          run("trace", "info", path, "--explain", "request"), True)
    check("no span", "no span 'nosuch'; spans: " in
          run("trace", "info", path, "--explain", "nosuch", status=2), True)
    left = glob.glob(os.path.join(os.environ["TMPDIR"], "gmpsim-*"))
    check("stores that were for a moment", left, [])


def main():
    with tempfile.TemporaryDirectory() as tmp:
        os.environ["TMPDIR"] = os.path.join(tmp, "t")
        os.mkdir(os.environ["TMPDIR"])
        db = os.path.join(tmp, "runs.db")
        for i, path in enumerate(sorted(glob.glob(os.path.join(HERE, "recorded", "*"))), 1):
            check_run(path, db, i)
        check("complaints", run("db", "check", db).startswith("complaints: 0"), True)
        check_known(tmp)
        check_broken(tmp)
        check_commands(tmp)
    sys.exit(1 if bad else 0)


main()
