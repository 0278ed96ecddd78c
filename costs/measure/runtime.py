#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the beginning of a Go program takes in the runtime, where, and how much that varies.

    runtime.py GO [PROCS [RUNS [PROGRAM...]]]

GO: .../bin/go of Go 1.19 to 1.27; PROCS: default 2; RUNS: default 60; PROGRAM: of
tests/golden/spread/go, default all

Builds the programs with a runtime that notes the time where goroutines are made, run, parked and
ended and where Ms are started, woken and put to sleep (`go build -overlay`, the toolchain stays as
it is), runs them under `chrt -f 1` and prints in nanoseconds, as eleven quantiles (0, 1, 5, 10, 25,
50, 75, 90, 95, 99, 100 %):

    FROM>TO #N     between two notes of one M; N: go statements of the program so far. Only what
                   took 0.9 us in a seventh of the runs: elsewhere there is nothing but work
    wake, idle     the futex call that wakes an M, and from its end until the M goes on (less than
                   0: it did not wait for the end), by how long the CPU was idle that it goes on on
    sleep of       usleep of the monitor and of thieves
    clone          the call that starts a thread, and until that goes on in Go
"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
GO = os.path.join(HERE, "..", "..", "tests", "golden", "spread", "go")
PLACES = (0, .01, .05, .1, .25, .5, .75, .9, .95, .99, 1)
RESTS = (4e3, 6e3, 20e3, 50e3, 1e12)
# (function, before or after which of its lines; None: at its head, what is noted, of whom)
NOTES = [
    ("main", None, "runtime", "0"), ("main", "after:\tgcenable()\n", "inits", "0"),
    ("main", "before:\tfn()\n", "main", "0"),
    ("newproc", None, "go", "0"), ("newproc", "before:\t\tif mainStarted {\n", "put", "0"),
    ("malg", None, "malg", "0"), ("malg", "after:\tnewg := new(g)\n", "struct", "0"),
    ("malg", "before:\treturn newg", "stack", "0"),
    ("execute", None, "execute", "0"), ("park_m", None, "park", "0"), ("ready", None, "ready", "0"),
    ("goexit0", None, "exit", "0"), ("stealWork", None, "steal", "0"),
    ("runqgrab", "before:usleep(3)", "back-off", "3"),
    ("runqgrab", "after:usleep(3)\n", "backed-off", "0"),
    ("sysmon", "before:usleep(delay)\n", "doze", "int32(delay)"),
    ("sysmon", "after:usleep(delay)\n", "dozed", "0"),
    ("stopm", None, "stopm", "0"), ("stopm", "after:\tmPark()\n", "woken", "0"),
    ("startm", "before:\tnotewakeup(&nmp.park)\n", "wake", "int32(nmp.id)"),
    ("startm", "after:\tnotewakeup(&nmp.park)\n", "waked", "0"),
    ("newm", "before:\tnewm1(mp)\n", "clone", "int32(mp.id)"),
    ("newm", "after:\tnewm1(mp)\n", "cloned", "0"), ("mstart1", None, "mstart", "0"),
]
KINDS = [kind for _, _, kind, _ in NOTES]
RING = """
type noteRec struct { t int64; what, m, arg, cpu int32 }
func tickscpu() (t int64, cpu int32)
var notes [8192]noteRec
var noted uint32
var notesAt, notesTicks int64
//go:nosplit
func note1(what, arg int32) {
	if i := atomic.Xadd(&noted, 1) - 1; i < 8192 {
		t, cpu := tickscpu()
		notes[i] = noteRec{t, what, int32(getg().m.id), arg, cpu & 0xfff}
	}
}
func notesinit() { // their pages are there before anything is noted
	for i := range notes { notes[i].cpu = 1 }
	notesAt, notesTicks = nanotime(), cputicks()
}
func notesdump() {
	println("F", cputicks()-notesTicks, nanotime()-notesAt)
	for i := uint32(0); i < noted && i < 8192; i++ {
		r := &notes[i]
		println("N", r.t-notesTicks, r.m, r.what, r.arg, r.cpu)
	}
}
"""
TICKS = """
TEXT runtime·tickscpu(SB),NOSPLIT,$0-12
	RDTSCP
	SHLQ $32, DX
	ADDQ DX, AX
	MOVQ AX, t+0(FP)
	MOVL CX, cpu+8(FP)
	RET
"""


def noting(text):
    """proc.go with the notes."""
    def inside(function, change):
        nonlocal text
        head = re.search(r"^func %s\([^\n]*\{\n" % function, text, re.M)
        end = text.index("\n}\n", head.end())
        text = text[:head.end()] + change(text[head.end():end]) + text[end:]
    for number, (function, place, _, arg) in enumerate(NOTES):
        note = "\tnote1(%d, %s)\n" % (number, arg)
        if place is None:
            inside(function, lambda body, n=note: n + body)
        else:
            where, line = place.split(":", 1)
            new = note.strip() + "; " + line if where == "before" else line + note
            new = note + line if where == "before" and line.endswith("\n") else new
            inside(function, lambda body, a=line, b=new: body.replace(a, b, 1))
    inside("main", lambda b: b.replace("\tfn()\n", "\tfn()\n\tsystemstack(notesdump)\n"))
    inside("schedinit", lambda b: b.replace("\tworldStopped()\n",
                                            "\tworldStopped()\n\tnotesinit()\n"))
    return text + RING


def build(go, folder, names):
    env = dict(os.environ, CGO_ENABLED="0", GO111MODULE="off", GOTOOLCHAIN="local", GOFLAGS="")
    root = subprocess.run([go, "env", "GOROOT"], stdout=subprocess.PIPE, text=True, check=True,
                          env=env).stdout.strip()
    replace = {}
    for name, change in (("proc.go", noting), ("asm_amd64.s", lambda text: text + TICKS)):
        path, copy = os.path.join(root, "src", "runtime", name), os.path.join(folder, name)
        with open(path, encoding="utf-8") as f, open(copy, "w", encoding="utf-8") as out:
            out.write(change(f.read()))
        replace[path] = replace[os.path.realpath(path)] = copy
    overlay = os.path.join(folder, "overlay.json")
    with open(overlay, "w", encoding="utf-8") as f:
        json.dump({"Replace": replace}, f)
    for name in names:
        work = os.path.join(folder, "src-" + name)
        os.mkdir(work)
        for source, to in ((name + ".go", "main.go"), ("common.txt", "common.go")):
            with open(os.path.join(GO, source), encoding="utf-8") as f:
                text = f.read()
            with open(os.path.join(work, to), "w", encoding="utf-8") as f:
                f.write(text)
        subprocess.run([go, "build", "-trimpath", "-overlay", overlay, "-o",
                        os.path.join(folder, name), "main.go", "common.go"], check=True, cwd=work,
                       env=env)


def events(program, procs):
    """(ns since main.main, M, what, argument, CPU), in order."""
    said = subprocess.run(["chrt", "-f", "1", program], check=True, text=True, capture_output=True,
                          env=dict(os.environ, GOMAXPROCS=procs)).stderr.splitlines()
    notes = [[int(x) for x in line.split()[1:]] for line in said if line.startswith("N ")]
    ticks, ns = [int(x) for x in next(x for x in said if x.startswith("F ")).split()[1:]]
    at = next(n[0] for n in notes if KINDS[n[2]] == "main")
    return sorted(((n[0] - at) * ns / ticks, n[1], KINDS[n[2]], n[3], n[4]) for n in notes)


def gaps(found, values):
    """What one M did not do anything else in, from the goroutines of the collector on."""
    last, gos, seen = {}, 0, collections.Counter()
    for t, m, what, _, _ in found:
        gos += what == "go" and t >= 0
        before = last.get(m)
        last[m] = (t, what)
        if before is None or t < -60e3 or t - before[0] < 900 or what == "woken":
            continue
        name = "%s>%s #%d" % (before[1], what, gos)
        seen[name] += 1
        if seen[name] == 1:
            values[name].append(t - before[0])


def wakes(found, values):
    idle = {}  # since when, of CPUs on which who ran last sleeps
    for i, (t, m, what, who, cpu) in enumerate(found):
        idle[cpu] = t if what in ("stopm", "back-off", "doze") else None
        if what != "wake":
            continue
        done = next((e[0] for e in found[i:] if e[1] == m and e[2] == "waked"), None)
        woken = next((e for e in found[i:] if e[1] == who and e[2] == "woken"), None)
        if done is None or woken is None or idle.get(woken[4]) is None:
            continue
        most = next(r for r in RESTS if t - idle[woken[4]] <= r)
        name = "wake, idle %g us at most" % (most / 1e3)
        values[name + ": call"].append(done - t)
        values[name + ": then"].append(woken[0] - done)


def lengths(found, values):
    ends = {"back-off": "backed-off", "doze": "dozed", "clone": "cloned"}
    for i, (t, m, what, arg, _) in enumerate(found):
        end = next((e[0] for e in found[i:] if e[1] == m and e[2] == ends.get(what)), None)
        if end is not None:
            values["clone" if what == "clone" else "sleep of %d us" % arg].append(end - t)
        start = next((e[0] for e in found if e[1:3] == (arg, "mstart")), None)
        if what == "clone" and start is not None:
            values["clone, until it goes on"].append(start - t)


def main(args):
    go, procs, runs = args[0], (args[1:] + ["2"])[0], int((args[2:] + ["60"])[0])
    names = args[3:] or sorted(n[:-3] for n in os.listdir(GO) if n.endswith(".go"))
    with tempfile.TemporaryDirectory() as folder:
        build(go, folder, names)
        for name in names:
            values = collections.defaultdict(list)
            for _ in range(runs):
                found = events(os.path.join(folder, name), procs)
                gaps(found, values)
                wakes(found, values)
                lengths(found, values)
            for what, v in sorted(values.items()):
                v.sort()
                if what.startswith(("wake, ", "sleep of", "clone")) or 7 * len(v) >= runs:
                    print("%-10s %-36s %4d " % (name, what, len(v)) + " ".join(
                        "%6d" % v[min(len(v) - 1, int(p * len(v)))] for p in PLACES))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if len(sys.argv) > 1 else __doc__)
