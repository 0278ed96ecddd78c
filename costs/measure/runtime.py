#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the beginning of a Go program takes in the runtime, and how much that varies.

    runtime.py GO [RUNS]        GO: .../bin/go of Go 1.23; RUNS: default 200

Builds go/starts.go with a runtime that notes the time where goroutines are made, run and stolen,
where Ms are started, woken and put to sleep (`go build -overlay`, the toolchain stays as it is),
runs it at GOMAXPROCS 2 and 4 under `chrt -f 1`, and prints eleven quantiles of each in picoseconds:
the times of their own in a cost table's "noise".
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PLACES = (0, .01, .05, .1, .25, .5, .75, .9, .95, .99, 1)
# what is noted, before which text of proc.go
NOTES = (
    ("execute", "func execute(gp *g, inheritTime bool) {\n\tmp := getg().m\n"),
    ("back-off", "\t\t\t\t\t\tif !osHasLowResTimer {\n"),
    ("stopm", "func stopm() {\n\tgp := getg()\n"),
    ("woken", "func stopm() {\n\tgp := getg()\n"),
    ("startm", "func startm(pp *p, spinning, lockheld bool) {\n"),
    ("go", "func newproc(fn *funcval) {\n\tgp := getg()\n"),
    ("mstart", "func mstart1() {\n\tgp := getg()\n"),
    ("clone", "\tnewm1(mp)\n\treleasem(getg().m)"),
)
RING = """
type NoteRec struct { T int64; What, M int32 }
var notes [4096]NoteRec
var noted atomic.Uint32
//go:nosplit
func note1(what int32) {
	if i := noted.Add(1) - 1; i < 4096 {
		notes[i] = NoteRec{nanotime(), what, int32(getg().m.id)}
	}
}
//go:linkname notesget
func notesget() (*[4096]NoteRec, uint32) { return &notes, noted.Load() }
"""


def overlay(go, folder):
    root = subprocess.run([go, "env", "GOROOT"], stdout=subprocess.PIPE, text=True,
                          check=True).stdout.strip()
    path = os.path.join(root, "src", "runtime", "proc.go")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for number, (what, place) in enumerate(NOTES):
        if place not in text:
            sys.exit(f"runtime.py: this runtime has no {place!r}: it is for Go 1.23")
        note = f"\tnote1({number})\n"
        if what == "clone":
            text = text.replace(place, note + place, 1)
        elif what == "woken":
            at = text.index("\tmPark()\n", text.index(place)) + len("\tmPark()\n")
            text = text[:at] + note + text[at:]
        else:
            text = text.replace(place, place + note, 1)
    with open(os.path.join(folder, "proc.go"), "w", encoding="utf-8") as f:
        f.write(text + RING)
    replace = {p: os.path.join(folder, "proc.go") for p in (path, os.path.realpath(path))}
    with open(os.path.join(folder, "overlay.json"), "w", encoding="utf-8") as f:
        json.dump({"Replace": replace}, f)


def events(program, procs):
    out = subprocess.run(["chrt", "-f", "1", program], check=True, text=True,
                         stdout=subprocess.PIPE, env=dict(os.environ, GOMAXPROCS=str(procs))).stdout
    found = []
    for line in out.splitlines():
        t, m, what = line.split()
        found.append((int(t), int(m), NOTES[int(what)][0]))
    return sorted(found)


def first(ev, what, after, m=None):
    for t, who, kind in ev:
        if kind in what and t > after and (m is None or who == m):
            return t, kind
    return None, None


def take(ev, values):
    gos = [(t, m) for t, m, what in ev if what == "go"]
    before = [t for t, _ in gos if t < 0]
    after = [t for t, _ in gos if t >= 0]
    main = [m for t, m in gos if t >= 0][0]
    # the last goroutine before main.main is the one of finalizers; the first after is its first
    values["boot"].append(after[0] - before[-1])
    values["first_go"].append(after[1] - after[0])
    values["stack_refill"].append(after[4] - after[3])
    for i in (1, 2, 4, 5, 6):
        values["new_g, with the statement"].append(after[i + 1] - after[i])
    t, _ = first(ev, ("execute",), after[7], main)
    if t is not None:
        values["first_wait"].append(t - after[7])
    for t, _, what in ev:
        if what == "startm" and t > before[-1] - 50000:
            woken, kind = first(ev, ("woken", "clone"), t)
            if kind == "woken":
                values["startm to an M that slept"].append(woken - t)
            break
    for t, _, what in ev:
        if what == "clone":
            at, _ = first(ev, ("mstart",), t)
            if at is not None:
                values["clone to mstart"].append(at - t)


def main(args):
    go, runs = args[0], int(args[1]) if len(args) > 1 else 200
    values = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        overlay(go, folder)
        program = os.path.join(folder, "starts")
        subprocess.run([go, "build", "-trimpath", "-overlay", os.path.join(folder, "overlay.json"),
                        "-ldflags=-checklinkname=0", "-o", program,
                        os.path.join(HERE, "go", "starts.go")], check=True,
                       env=dict(os.environ, CGO_ENABLED="0", GO111MODULE="off",
                                GOTOOLCHAIN="local"))
        for procs in (2, 4):
            for _ in range(runs):
                take(events(program, procs), values)
    for name, v in values.items():
        v.sort()
        q = [v[min(len(v) - 1, int(p * len(v)))] * 1000 for p in PLACES]
        print(f"{name}: {q}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
