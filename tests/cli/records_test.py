#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: every field of every event says what its name says. Method: scenarios that make all events,
their records as JSON lines, and a model of who is where since when that is kept from the other
fields: what a record claims (how long, whose, of which P) is compared with what was seen before it
and after it. An event or a field of events.def without a check here is a mistake, and so is one
that never takes a value that it is there to take.

usage: records_test.py GMPSIM SOURCE
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from collections import defaultdict

GMPSIM, SOURCE = (os.path.abspath(p) for p in (sys.argv.pop(1), sys.argv.pop(1)))
LOCKED = 5000  # ns: ... with a lock in between
NEAR = 80  # ns: a length is between two readings of the clock, a record is made beside them

LIBRARY = [
    "basics/one-of-everything", "basics/execution-trace", "basics/iter-pull",
    "everyday/mutex-convoy", "everyday/deadlock", "stress/gomaxprocs", "threads/cgo-foreign-thread"]
# What happens seldom, and until when it has.
SELDOM = {
    "history/wasm-starvation": "30ms", "history/mutex-collapse": "30ms",
    "everyday/http-service": "30ms", "gc/stop-during-marking": "30ms",
    "history/gomaxprocs-under-a-quota": "30ms",
    "stress/syscalls": "30ms", "history/stops-take-turns": "30ms"}
OWN = [
    {"name": "cpus", "procs": 4, "host": {"cpus": 2, "quota": 1.5, "period": "100ms"},
     "main": [{"go": [{"cpu": "80ms"}], "count": 6}, {"cpu": "40ms"}, {"sleep": "200ms"}]},
    {"name": "collector", "procs": 2, "main": [
        {"go": [{"loop": 300, "do": [{"alloc": "1MB"}, {"cpu": "20us"}]}]},
        {"loop": 300, "do": [{"alloc": "1MB", "live": True}, {"cpu": "20us"}]}, {"gc": True}]},
    {"name": "assertion", "main": [
        {"span": "late", "since": "0", "do": [{"cpu": "1us"}]},
        {"print": "%d of %d", "args": [1, 2]},
        {"mark": "here", "value": 7}, {"mark": "there", "value": 8}, {"assert": 0}]},
    *({"name": "an idle P found late", "procs": 12, "main": [  # on the way out of a system call
        {"go": [{"loop": "forever", "do": [{"syscall": {"exp": time}, "kind": "short"},
                                           {"cpu": {"exp": "3us"}}]}], "count": count},
        {"sleep": "5ms"}]} for count, time in ((12, "60us"), (20, "100us"))),
    {"name": "said", "main": [{"assert": "1 == 2", "text": "said"}]},
    {"name": "panic", "main": [{"panic": 6}]},
    {"name": "others", "main": [{"panic": "seven"}]},
    {"name": "threads", "procs": 2, "main": [
        {"go": [{"lock_os_thread": True}, {"cpu": "1ms"}, {"syscall": "5ms"}]},
        {"go": [{"loop": 3, "do": [{"cpu": "30ms", "kind": "tight"}, {"gosched": True}]}],
         "count": 3}, {"syscall": "40us"}, {"go": [], "count": 600}, {"sleep": "200ms"}]},
    {"name": "late", "procs": 1, "host": {"cpus": 1, "quota": 0.2, "period": "100ms"},
     "objects": {"conn": {"fd": {"every": "3ms", "end": "250ms"}}},
     "main": [{"loop": 40, "do": [{"read": "conn", "into": "n"},
                                   {"syscall": "2ms", "kind": "short"}]}]},
]


def events_def():
    with open(os.path.join(SOURCE, "sim/base/events.def"), encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    found = {}
    event = r'EVENT(?:_G)?\((\w+), (\w+),\s*"(?:[^"\\]|\\.)*",((?:\s*\([^)]*\))*)'
    for m in re.finditer(event, text):
        found[m.group(2)] = re.findall(r"\(\w+, (\w+), (\w+)\)", m.group(3))
    enums = {name: re.findall(r'\(\w+, "([^"]*)"\)', body) for name, body in
             re.findall(r'ENUM\((\w+), "[^"]*",((?:\s*\([^)]*\))*)', text)}
    return found, enums


EVENTS, ENUMS = events_def()
with open(os.path.join(SOURCE, "model/waitreason.def"), encoding="utf-8") as waits:
    ENUMS["wait"] = re.findall(r'WAITREASON\(\w+, "([^"]*)"\)', waits.read())


class World:
    """Who is where since when."""

    def __init__(self, test, file, records):
        self.test, self.file, self.records = test, file, records
        self.at = 0
        with open(file, encoding="utf-8") as f:
            self.lines = f.read().splitlines()
        self.program = set()            # its goroutines
        self.g = {}                     # goroutine -> (what, since)
        self.asked = defaultdict(dict)  # kind of stretch -> whose -> since when
        self.seen = set()
        self.procs, self.cycle = 0, 0
        self.made, self.started = set(), {0, 1}
        self.span_from = None

    def fail(self, r, why):
        self.test.fail(f"{self.file}, record {self.at}: {why}: {r}")

    def want(self, r, holds, why):
        if not holds:
            self.fail(r, why)

    def length(self, r, field, kind, whose, near=NEAR):
        """The field is the time since the stretch began."""
        since = self.asked[kind].pop(whose, None)
        if since is not None:
            took = r["time_ns"] - since
            self.want(r, abs(r[field] - took) <= near, f"{field} is not {took:.0f}")

    def next_of(self, r, events):
        """The next of these events on the same M."""
        for later in self.records[self.at + 1:]:
            if later.get("m") == r.get("m") and later["event"] in events:
                return later
        return None


def began(kind, whose="g"):
    def check(w, r):
        w.asked[kind][r[whose]] = r["time_ns"]
    return check


def lasted(field, kind, whose="g", near=NEAR):
    def check(w, r):
        w.length(r, field, kind, r[whose], near)
    return check


def becomes(what):
    def check(w, r):
        w.g[r["g"]] = (what, r["time_ns"])
    return check


def lives(field):
    def check(w, r):
        w.want(r, field not in r or r[field] in w.g, f"{field} names nobody who lives")
    return check


def created(w, r):
    w.want(r, r["g"] not in w.g, "it is there already")
    if "func" in r:
        w.want(r, isinstance(r["func"], str), "a function of the program has a name")
    else:
        w.want(r, r["group"] in ("runtime", "context"), "a goroutine of the program has a function")
    if "func" in r:
        w.program.add(r["g"])
    w.want(r, (r["place"] == "none") == (r["kind"] in ("coroutine", "foreign")), "place")
    lives("parent")(w, r)
    becomes("runnable" if r["place"] != "none" else "waits")(w, r)
    w.asked["queue"][r["g"]] = r["time_ns"]


def started(w, r):
    w.want(r, w.g[r["g"]][0] != "runs", "it runs already")
    if w.g[r["g"]][0] == "runnable":
        # It could run before it was put into a queue: with others, when all of them were known;
        # into the global one when the lock was free.
        put = w.asked["queue"][r["g"]]
        ready = w.asked["polled"].pop(r["g"], put)
        near = LOCKED if w.asked["locked"].pop(r["g"], False) else NEAR
        w.length(r, "waited_ns", "queue", r["g"], near=near + put - ready)
    else:
        w.want(r, r["waited_ns"] == 0, "it was in no queue")
    w.asked["run"][r["g"]] = r["time_ns"]
    becomes("runs")(w, r)


def readied(w, r):
    w.want(r, w.g[r["g"]][0] in ("waits", "parks"), "it did not wait")
    w.want(r, r["place"] != "none", "it is somewhere")
    if "by" in r:
        w.want(r, w.g[r["by"]][0] == "runs", "who woke it does not run")
    becomes("runnable")(w, r)
    w.asked["queue"][r["g"]] = r["time_ns"]


def put_back(w, r):
    w.want(r, w.g[r["g"]][0] == "runs", "it did not run")
    becomes("runnable")(w, r)
    w.asked["queue"][r["g"]] = r["time_ns"]


def preempted(w, r):
    w.want(r, (r["why"] == "yielded") == (r["place"] == "ring"), "a hand-off yields to the ring")
    w.length(r, "ran_ns", "run", r["g"], near=max(NEAR, r["ran_ns"] // 1000))
    put_back(w, r)


def left_syscall(w, r):
    w.length(r, "in_ns", "syscall", r["g"])
    runs = r["place"] == "none"
    becomes("runs" if runs else "runnable")(w, r)
    w.asked["run" if runs else "queue"][r["g"]] = r["time_ns"]
    w.asked["locked"][r["g"]] = not runs


def ended(w, r):
    w.want(r, w.g.pop(r["g"])[0] == "runs", "it did not run")


def p_started(w, r):
    if r["spinning"]:
        w.asked["spin"][r["m"]] = r["time_ns"]
    w.asked["has"][r["m"]] = r["p"]


def p_stopped(w, r):
    w.want(r, w.asked["has"].get(r["m"]) == r["p"], "the M had another P")
    w.asked["had"][r["m"]] = r["p"]


def handed_off(w, r):
    had = (w.asked["has"].get(r["m"]), w.asked["had"].get(r["m"]))
    retaken = w.asked["retaken"].pop(r["of_p"], None)
    w.want(r, retaken is not None or r["of_p"] in had, "of_p is not the M's")


def retaken(w, r):
    w.want(r, r["of_p"] < w.procs, "there is no such P")
    w.asked["retaken"][r["of_p"]] = True
    if "g" in r:
        w.want(r, "syscall" in w.g[r["g"]][0], "it is in no system call")


def resized(w, r):
    w.want(r, r["from"] == w.procs, "from")
    w.procs = r["to"]


def stole(w, r):
    w.want(r, r["from_p"] != r["p"] and r["from_p"] < w.procs, "from_p")
    w.want(r, 1 <= r["count"] <= 128, "count")


def m_made(w, r):
    w.want(r, r["new_m"] not in w.made, "it was made before")
    w.made.add(r["new_m"])


def m_started(w, r):
    w.want(r, r["m"] < 2 or r["m"] in w.made, "nobody made it")


def m_woke(w, r):
    w.length(r, "slept_ns", "sleep", r["m"])
    if r["spinning"]:
        w.asked["spin"][r["m"]] = r["time_ns"]


def spun(w, r):
    later = w.next_of(r, ("g_start", "m_park", "m_spin_begin", "netpoll_block", "p_stop", "m_exit"))
    w.want(r, not r["found"] or later is None or later["event"] == "g_start",
           f"it found something, and then: {later}")
    since = w.asked["spin"].pop(r["m"], None)
    if since is not None:
        took = r["time_ns"] - since
        w.want(r, 0 <= r["spun_ns"] <= took + NEAR, f"spun_ns is more than {took:.0f}")


def signalled(w, r):
    w.want(r, r["to_m"] in w.made | {0, 1}, "to_m is no M")


def overflowed(w, r):
    w.want(r, r["count"] == 129, "half of a ring and one")


def injected(w, r):
    w.want(r, 1 <= r["count"] <= 10000, "count")


def phase(w, r):
    w.want(r, r["cycle"] >= w.cycle and r["cycle"] <= w.cycle + 1, "cycle")
    w.cycle = r["cycle"]


def worked(w, r):
    since = w.asked["run"].get(r["g"])
    w.want(r, since is None or r["worked_ns"] <= r["time_ns"] - since + NEAR, "longer than it ran")
    w.want(r, r["mode"] != "none", "mode")


def stopping(w, r):
    w.asked["stop"]["world"] = r["time_ns"]
    w.asked["stop why"]["world"] = r["why"]


def stopped(w, r):
    w.want(r, r["why"] == w.asked["stop why"]["world"], "why")
    w.length(r, "took_ns", "stop", "world")


def goes_on(w, r):
    w.want(r, r["why"] == w.asked["stop why"]["world"], "why")


def fired(w, r):
    late = r["time_ns"] - r["when_ns"]
    w.want(r, late >= -1, "before its time")
    w.want(r, -1 <= late / 1000 - r["late_us"] <= 10, "late_us")  # by an earlier reading


def polled(w, r):
    if "g" in r:
        w.want(r, w.g[r["g"]][0] in ("waits", "parks"), "it did not wait")
    w.asked["polled"][r.get("g")] = r["time_ns"]
    w.want(r, 0 <= r["fd"] < 1000 and r["mode"] != "none", "fd, mode")


def seen_late(w, r):
    w.want(r, 0 <= r["fd"] < 100, "fd")
    w.want(r, r["time_ns"] - r["since_ns"] >= 100000, "it was seen at once")


def blocks(w, r):
    w.want(r, r["at_most_ns"] >= -1, "at_most_ns")


def got_cpu(w, r):
    if r["waited_ns"] > 0:
        w.length(r, "waited_ns", "cpu", r["m"], near=5000)
    w.want(r, r["cpu"] < 64, "cpu")
    w.asked["on cpu"][r["m"]] = r["time_ns"]


def left_cpu(w, r):
    since = w.asked["on cpu"].get(r["m"])
    w.want(r, since is None or r["ran_ns"] <= r["time_ns"] - since + 5000, "ran_ns")
    w.want(r, r["cpu"] < 64, "cpu")


def throttled(w, r):
    w.want(r, r["period"] * 100e6 <= r["time_ns"] < (r["period"] + 1) * 100e6 + 1e6, "period")
    w.want(r, r["cpu"] < 64, "cpu")
    w.asked["throttle"][r["cpu"]] = r["time_ns"]


def printed(w, r):
    w.want(r, isinstance(r["text"], str), "text")
    w.asked["arguments"][r["g"]] = [0, r["arguments"]]


def argument(w, r):
    at = w.asked["arguments"][r["g"]]
    at[0] += 1
    w.want(r, r["position"] == at[0] <= at[1], "position")
    w.want(r, isinstance(r["value"], int), "value")


def earlier(w, r):
    w.want(r, r["began_ns"] <= r["time_ns"], "began_ns")


def span_began(w, r):
    w.want(r, isinstance(r["span"], str), "span")
    w.asked["spans"][(r["span"], r["key"])] = True


def span_ended(w, r):
    w.want(r, w.asked["spans"].pop((r["span"], r["key"]), False), "it had not begun")


def marked(w, r):
    w.want(r, (r["name"], r["value"]) in (("here", 7), ("there", 8)), "what the file says")


def failed(w, r):
    w.want(r, isinstance(r["text"], str) and r["text"] != "", "text")


def panicked(w, r):
    w.want(r, r["kind"] != "none" and isinstance(r.get("value", 0), int), "kind, value")


def moved(w, r):
    w.want(r, w.g[r["g"]][0] != "ended" and r["place"] != "none", "place")
    w.want(r, "to_p" not in r or r["to_p"] < max(w.procs, 1), "to_p")


def asked_to_stop(w, r):
    w.want(r, r["on_p"] < w.procs, "on_p")


# What stands in the file's line where a goroutine of the program waits so.
WAITS_IN = {"chan receive": "recv range gc alloc", "chan send": "send", "sleep": "sleep",
            "select": "select", "sync.Mutex.Lock": "lock with_lock", "sync.WaitGroup.Wait": "wait",
            "IO wait": "read"}


def parked(w, r):
    w.want(r, r["reason"] in ENUMS["wait"], "reason")
    if r["g"] not in w.program:
        w.want(r, "line" not in r, "it is the runtime's")
    elif "line" in r and r["reason"] in WAITS_IN:
        words = re.findall(r'"(\w+)"', w.lines[r["line"] - 1])
        w.want(r, set(WAITS_IN[r["reason"]].split()) & set(words), "line")
    elif "line" not in r:  # main, while the runtime starts
        w.want(r, r["g"] == 1 and r["reason"] == "chan receive", "line")
    becomes("parks")(w, r)


# event -> how it is checked, and the fields that the check looks at
CHECKS = {
    "g_create": (created, "func group parent kind place"),
    "g_start": (started, "waited_ns inherits_slice"),
    "g_park": (parked, "line reason"),
    "g_ready": (readied, "by place"),
    "g_gosched": (put_back, "place"),
    "g_preempt": (preempted, "ran_ns why place"),
    "g_preempt_request": (asked_to_stop, "on_p"),
    "g_exit": (ended, ""),
    "g_syscall_enter": (lambda w, r: (began("syscall")(w, r), becomes("syscall")(w, r)),
                        "blocking"),
    "g_syscall_exit": (left_syscall, "in_ns place"),
    "g_lock_thread": (lives("g"), "locked"),
    "p_start": (p_started, "spinning"),
    "p_stop": (p_stopped, ""),
    "p_steal": (stole, "count from_p"),
    "p_handoff": (handed_off, "of_p"),
    "p_retake": (retaken, "of_p why"),
    "p_resize": (resized, "from to"),
    "m_create": (m_made, "why new_m"),
    "m_start": (m_started, ""),
    "m_park": (began("sleep", "m"), ""),
    "m_wake": (m_woke, "slept_ns spinning"),
    "m_spin_begin": (began("spin", "m"), ""),
    "m_spin_end": (spun, "spun_ns found"),
    "m_exit": (lambda w, r: None, ""),
    "m_signal": (signalled, "to_m"),
    "runq_overflow": (overflowed, "count"),
    "inject": (injected, "count"),
    "gc_phase": (phase, "cycle phase"),
    "gc_worker": (worked, "worked_ns mode"),
    "gc_assist_begin": (began("assist"), ""),
    "gc_assist_end": (lasted("helped_ns", "assist"), "helped_ns"),
    "stw_begin": (stopping, "why"),
    "stw_stopped": (stopped, "took_ns why"),
    "stw_end": (goes_on, "why"),
    "timer_fire": (fired, "when_ns late_us"),
    "netpoll_ready": (polled, "fd mode"),
    "netpoll_block": (blocks, "at_most_ns"),
    "host_wait": (began("cpu", "m"), ""),
    "host_on_cpu": (got_cpu, "waited_ns cpu"),
    "host_off_cpu": (left_cpu, "ran_ns why cpu"),
    "throttle_on": (throttled, "period cpu"),
    "throttle_off": (lasted("throttled_ns", "throttle", "cpu"), "throttled_ns cpu"),
    "print": (printed, "text arguments"),
    "print_arg": (argument, "value position"),
    "span_since": (earlier, "began_ns"),
    "span_begin": (span_began, "key span"),
    "span_end": (span_ended, "key span"),
    "mark": (marked, "value name"),
    "assert_fail": (failed, "text"),
    "panic": (panicked, "value kind"),
    "g_move": (moved, "to_p place"),
    "netpoll_late": (seen_late, "since_ns fd"),
}


# Values of a type that one of its fields never takes; all others must be seen.
NEVER = {
    ("g_create", "place"): "global kept",
    ("g_ready", "place"): "none",
    ("g_gosched", "place"): "none runnext ring kept",
    ("g_preempt", "place"): "none kept",
    ("g_syscall_exit", "place"): "runnext ring",
    ("g_move", "place"): "none runnext kept",
    ("gc_worker", "mode"): "none",
    ("netpoll_ready", "mode"): "none write both",  # programs read
    ("panic", "kind"): "none Goexit",              # the model's, of what is on the panic's stack
    ("stw_begin", "why"): "none", ("stw_stopped", "why"): "none", ("stw_end", "why"): "none"}
SAME = {("runq_overflow", "count")}  # half of a ring and one


def never(event, field):
    words = NEVER.get((event, field), "")
    return {v for v in ENUMS["stw"] + ENUMS["gcmode"] + ENUMS["place"] + ENUMS["ready"]
            + ENUMS["panicked"] if v in words.split()}


class Records(unittest.TestCase):
    def records(self, file, until):
        done = subprocess.run([GMPSIM, "run", file, "--jsonl", "-", "--until", until],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        return [json.loads(line) for line in done.stdout.decode().splitlines()]

    def files(self, folder):
        for name, until in [(name, "400ms") for name in LIBRARY] + list(SELDOM.items()):
            yield os.path.join(SOURCE, "scenarios", name + ".json"), until
        for i, program in enumerate(OWN):
            path = os.path.join(folder, f"{i}.json")
            with open(path, "w", encoding="utf-8") as f:
                json.dump({"why": "t", **program}, f)
            yield path, "400ms"

    def test_a_check_for_every_field(self):
        fields = {event: {"line" if t == "pc" else name for t, name in fields}
                  for event, fields in EVENTS.items() if event != "none"}
        self.assertEqual(fields, {e: set(names.split()) for e, (_, names) in CHECKS.items()})

    def test_every_field_of_every_record(self):
        seen, values = set(), defaultdict(set)
        with tempfile.TemporaryDirectory() as folder:
            for file, until in self.files(folder):
                records = self.records(file, until)
                self.assertGreater(len(records), 10, file)
                seen |= self.look_at(file, records, values)
        self.assertEqual(set(CHECKS) - seen, set())
        for event, kind, name in ((e, t, name) for e, all_ in EVENTS.items() for t, name in all_):
            took = values[event, name]
            if kind == "flag":
                self.assertEqual(took, {True, False}, (event, name))
            elif kind == "wait":
                self.assertLess(15, len(took), took)
            elif kind in ENUMS:
                self.assertEqual(took, set(ENUMS[kind]) - never(event, name), (event, name))
            elif kind != "pc":  # that is told as a line
                self.assertEqual(len(took) == 1, (event, name) in SAME, (event, name, took))

    def look_at(self, file, records, values):
        w = World(self, file, records)
        times = [r["time_ns"] for r in records]
        self.assertEqual(times, sorted(times))
        for w.at, r in enumerate(records):
            for name in (n for _, n in EVENTS[r["event"]] if n in r):
                values[r["event"], name].add(r[name])
            try:
                CHECKS[r["event"]][0](w, r)
            except (KeyError, TypeError) as e:
                w.fail(r, f"{type(e).__name__} {e}")
        return {r["event"] for r in records}


if __name__ == "__main__":
    unittest.main()
