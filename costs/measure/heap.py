#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a heap costs in real Go: marking it, clearing what is allocated, touching what is new.

    heap.py GO... [--table FILE] [--sizes]

GO: .../bin/go of Go 1.19 or newer. Each builds one program, which on one P allocates 32 MB in
blocks of pointers, lets go of it before a collection saw it and allocates it again, twice; then
32 MB more, and collects twelve times. Entries, per KB, medians of three programs:

    mark_kb    marking in the collections but the first of them (GODEBUG=gctrace=1)
    touch_kb   what the first takes longer: half of what it reads are pages that nobody touched
    clear_kb   allocating it the third time, less what the model charges for a block
    fresh_kb   what the second time takes longer: it writes pages that nobody touched

--table writes them into that cost table, for the release of each Go; --sizes prints them for blocks
of 64 bytes to 128 KB: of which size a scenario's heap is, it does not say, so tables have 16 KB.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

KB, TOTAL, BLOCK, TRIES = 1024, 32 << 20, 16 << 10, 3
SIZES = (64, 256, 1 << 10, 4 << 10, BLOCK, 128 << 10)
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = """
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

var live, more [][]*byte

func cpu() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(0, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

func fill(to [][]*byte, size int) int64 {
	began := cpu()
	for i := range to {
		to[i] = make([]*byte, size/8)
	}
	return cpu() - began
}

func again(size int) int64 {
	for i := range live {
		live[i] = nil
	}
	runtime.GC()
	runtime.GC()
	return fill(live, size)
}

func main() {
	size, _ := strconv.Atoi(os.Args[1])
	live = make([][]*byte, %d/size)
	more = make([][]*byte, len(live))
	fill(live, size)
	fmt.Println(again(size), again(size))
	fill(more, size)
	for i := 0; i < 12; i++ {
		runtime.GC()
	}
}
""" % TOTAL
MARK = re.compile(r"^gc \d+ .*: [\d.]+\+([\d.]+)\+[\d.]+ ms clock", re.M)


def environment(**more):
    return {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "", "CGO_ENABLED": "0",
            "GOPROXY": "off", **more}


def once(program, size):
    """Nanoseconds: each of the last twelve collections, allocating the second and third time."""
    done = subprocess.run([program, str(size)], capture_output=True, text=True, check=True,
                          env=environment(GOMAXPROCS="1", GOGC="off", GODEBUG="gctrace=1"))
    second, third = map(int, done.stdout.split())
    return [1e6 * float(ms) for ms in MARK.findall(done.stderr)][-12:], second, third


def work_of_a_block(size):
    """What the model charges, ns: an object, and a span of at least 8 KB."""
    with open(os.path.join(HERE, "..", "reference.json"), encoding="utf-8") as f:
        work = json.load(f)["work"]
    return (work["alloc"]["ps"] + work["mcache_refill"]["ps"] * min(1, size / (8 << 10))) / 1000


def measure(program, size):
    """Picoseconds per KB of each entry."""
    runs = [once(program, size) for _ in range(TRIES)]
    own = work_of_a_block(size) * TOTAL / size
    mark = statistics.median(m for marks, _, _ in runs for m in marks[1:])
    first = statistics.median(marks[0] for marks, _, _ in runs)
    second, third = (statistics.median(r[i] for r in runs) for i in (1, 2))
    return {"mark_kb": mark / 2, "touch_kb": max(first - mark, 0), "clear_kb": max(third - own, 0),
            "fresh_kb": max(second - third, 0)}, TOTAL / KB


def entries(program, size):
    ns, kb = measure(program, size)
    return {name: round(1000 * value / kb) for name, value in ns.items()}


def build(go, folder):
    source, out = os.path.join(folder, "main.go"), os.path.join(folder, "program")
    with open(source, "w", encoding="utf-8") as f:
        f.write(PROGRAM)
    subprocess.run([go, "build", "-o", out, source], check=True, env=environment(), cwd=folder)
    done = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, check=True,
                          env=environment())
    return out, done.stdout.strip()


def text_of(table):
    """An entry is a line, as in the other tables."""
    def on_a_line(match):
        words = " ".join(match.group(0).split())
        return words[0] + words[1:-1].strip() + words[-1]
    text = json.dumps(table, indent=2)
    for leaf in (r"\[[^][{}]*\]", r"\{[^{}]*\}"):
        text = re.sub(leaf, on_a_line, text)
    return text + "\n"


def write(path, measured):
    with open(path, encoding="utf-8") as f:
        table = json.load(f)
    releases = table.setdefault("releases", {})
    for version, all_of in measured.items():
        own = releases.setdefault(".".join(version.split(".")[:2]), {})
        for name, ps in all_of.items():
            own[name] = {"ps": ps, "source": "measured: costs/measure/heap.py, %s, blocks of 16 KB"
                                             % version}
    with open(path, "w", encoding="utf-8") as f:
        f.write(text_of(table))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("go", nargs="+")
    parser.add_argument("--table")
    parser.add_argument("--sizes", action="store_true")
    args = parser.parse_args()
    measured = {}
    for go in args.go:
        with tempfile.TemporaryDirectory() as folder:
            program, version = build(go, folder)
            for size in SIZES if args.sizes else (BLOCK,):
                got = entries(program, size)
                print("%-10s %6d bytes: %s ns a KB" % (version, size, ", ".join(
                    "%s %.0f" % (name, ps / 1000) for name, ps in got.items())))
                if size == BLOCK:
                    measured[version] = got
    if args.table:
        write(args.table, measured)
    return 0


if __name__ == "__main__":
    sys.exit(main())
