#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: gmpsim trace info, cut and export say what is in a trace.

usage: info.py GMPSIM

Method: counts and sums against reference.json, made with Go 1.26's own reader; a trace that
is cut in three has the same sums in all as the whole; an anonymized one has the same sums and
none of the program's names; exports are well-formed and have as many records as they must.
"""
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
import perfetto  # noqa: E402
RECORDED = os.path.join(HERE, "recorded")
SAME = ["trace_start_ns", "trace_end_ns", "events", "syncs", "events_by_kind", "g_transitions",
        "p_transitions", "block_reasons", "stop_reasons", "metrics", "region_begins", "task_ends",
        "logs", "cpu_samples", "num_goroutines", "num_procs", "num_threads", "ranges", "procs"]
SUMS = ["running", "runnable", "waiting", "syscall", "proc_running"]
bad = 0


def check(what, got, want):
    global bad
    if got != want:
        bad += 1
        print("%s: %s, want %s" % (what, str(got)[:300], str(want)[:300]))


def gmpsim(*args, **more):
    run = subprocess.run([sys.argv[1], "trace", *args], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, **more)
    check("gmpsim trace " + " ".join(args) + ": " + run.stderr.decode()[-300:], run.returncode, 0)
    return run.stdout.decode()


def info(path):
    return json.loads(gmpsim("info", path, "--json"))


def check_reference(name, want):
    got = info(os.path.join(RECORDED, name))
    for key in SAME:
        check("%s: %s" % (name, key), got[key], want[key])
    check(name + ": wire", got["wire_events"], want["wire"])
    for key in ("gc_ranges", "stw_ranges"):
        check("%s: %s" % (name, key),
              [[r["name"], r["begin_ns"], r["end_ns"]] for r in got[key]], want[key])
    sums = {k: got["totals"][k + "_ns"] for k in SUMS}
    sums.update({"waiting:" + k: v for k, v in got["totals"]["waiting_by_reason_ns"].items()})
    for key, value in sums.items():
        check("%s: %s" % (name, key), value, want["totals_ns"].get(key, 0))
    check(name + ": waits", [got["sched_latency"]["n"], got["unblock_latency"]["n"]],
          [want["sched_n"], want["unblock_n"]])
    rows = {g["id"]: [g["name"], g["running_ns"], g["runnable_ns"], g["waiting_ns"],
                      g["syscall_ns"]] for g in got["goroutines"]}
    for row in want.get("goroutines", []):
        check("%s: goroutine %d" % (name, row[0]), rows.get(row[0]), row[1:])


def check_cut(name, tmp):
    path = os.path.join(RECORDED, name)
    whole = info(path)
    duration = whole["trace_end_ns"] - whole["trace_start_ns"]
    marks = [0, duration // 3, 2 * duration // 3, duration + 1]
    parts = []
    for i in range(3):
        part = os.path.join(tmp, "part%d.trace" % i)
        gmpsim("cut", path, "--from", "%dns" % (marks[i] + (i > 0)), "--to", "%dns" % marks[i + 1],
               "--out", part, "--header", "26")
        parts.append(info(part))
    for key in ("running_ns", "runnable_ns", "syscall_ns", "proc_running_ns"):
        got, want = sum(p["totals"][key] for p in parts), whole["totals"][key]
        # Statuses at a beginning take a nanosecond each; a nanosecond is between two parts.
        if abs(got - want) > 100 * len(whole["goroutines"]) + 10:
            check("%s: %s in three parts" % (name, key), got, want)
    for kind in ("Metric", "RegionBegin", "Log", "TaskBegin"):
        check("%s: %s in three parts" % (name, kind),
              sum(p["events_by_kind"].get(kind, 0) for p in parts),
              whole["events_by_kind"].get(kind, 0))


def check_anonymized(name, tmp):
    path, part = os.path.join(RECORDED, name), os.path.join(tmp, "anonymous.trace")
    gmpsim("cut", path, "--anonymize", "--out", part)
    was, now = info(path), info(part)
    for i in (was, now):
        i["changes"] = {k: n for k, n in i["g_transitions"].items() if len(set(k.split("->"))) == 2}
    for key in ("changes", "block_reasons", "totals", "stw_ranges", "num_goroutines"):
        check("%s, anonymized: %s" % (name, key), now[key], was[key])
    with open(part, "rb") as f:
        data = f.read()
    names = set(re.findall(rb"main\.\w+", data))
    check(name + ": names left", [n for n in names if not re.fullmatch(rb"main\.f\d+", n)], [])
    check(name + ": paths left", re.findall(rb"schedcorpus|cmd/\w+/main\.go", data), [])


def check_exports(name, tmp):
    path = os.path.join(RECORDED, name)
    total = info(path)
    lines = gmpsim("export", path, "--jsonl", "-").splitlines()
    check(name + ": objects", len([json.loads(line) for line in lines]), total["events"])
    rows = list(csv.DictReader(io.StringIO(gmpsim("export", path, "--csv", "-"))))
    changes = sum(n for k, n in total["g_transitions"].items() if len(set(k.split("->"))) == 2)
    check(name + ": rows", len(rows), changes)
    ran = sum(int(r["duration_ns"]) for r in rows if r["from"] == "Running")
    if not ran <= total["totals"]["running_ns"]:
        check(name + ": running in rows", ran, total["totals"]["running_ns"])
    events = json.loads(gmpsim("export", path, "--perfetto", "-"))["traceEvents"]
    check(name + ": mistakes of the timeline", perfetto.mistakes(events), [])
    drawn = [perfetto.ns(e["dur"]) for e in events if e["ph"] == "X" and e["pid"] == 1
             and "g" in e.get("args", {}) and e["name"] != "system call"]
    runs = sum(n for k, n in total["g_transitions"].items()
               if k.endswith("->Running") and not k.startswith("Running"))
    # Who begins or ends to assist the collector goes on as somebody else.
    pieces = runs + 2 * total["ranges"].get("GC mark assist", {"count": 0})["count"]
    if not 0.9 * runs <= len(drawn) <= pieces or sum(drawn) > total["totals"]["running_ns"]:
        check(name + ": drawn runs", (len(drawn), sum(drawn)),
              (runs, total["totals"]["running_ns"]))
    sched = gmpsim("export", path, "--schedtrace", "-", "--period", "1ms").splitlines()
    duration = total["trace_end_ns"] - total["trace_start_ns"]
    check(name + ": SCHED lines", len(sched), duration // 1000000 + 1)


def main():
    with open(os.path.join(HERE, "reference.json")) as f:
        reference = json.load(f)
    for name, want in reference.items():
        check_reference(name, want)
    with tempfile.TemporaryDirectory() as tmp:
        for name in ("multigen-mutex-go26.trace", "features-go26.trace.zst", "mutex-go22.trace"):
            check_cut(name, tmp)
            check_anonymized(name, tmp)
            check_exports(name, tmp)
    with open(os.path.join(RECORDED, "mutex-go26.trace"), "rb") as f:
        piped = json.loads(gmpsim("info", "-", "--json", input=f.read()))
    check("by a pipe", piped["events"], reference["mutex-go26.trace"]["events"])
    print("%d wrong" % bad)
    sys.exit(1 if bad else 0)


main()
